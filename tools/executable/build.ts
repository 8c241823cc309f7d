/**
 * Makes `build/todo-service`: the pinned Node.js and the service in one file, for the machine that builds it; beside it
 * the licenses of its parts and completions for shells.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CARRIED_SCRIPT, readScalarScript } from '../../src/server/reference-page.ts';
import { giveUp, run } from '../command.ts';
import { commandsOf, writeCompletions } from '../completions.ts';
import { write } from '../files.ts';
import { commitOf } from '../origin.ts';
import runtime from '../runtime/package.json' with { type: 'json' };
import { bundle } from './bundle.ts';
import { licensesOf } from './licenses.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = 'build/executable';
const OUTPUT = 'build/todo-service';

const machine = `${process.platform}-${process.arch}`;
const pinned = Object.entries(runtime.optionalDependencies).find(([name]) => name.endsWith(machine))?.[1];
if (process.versions.node !== pinned) {
  const wanted = `it must be the pinned ${pinned ?? 'one'}, which "npm ci --include=optional" installs`;
  giveUp(`Cannot build with Node.js ${process.versions.node}: ${wanted}`);
}

process.chdir(root);
rmSync(PARTS, { recursive: true, force: true });
const { main, assets, packages } = await bundle(root, 'tools/executable/main.ts');
assets.set(CARRIED_SCRIPT, String(await readScalarScript()));
assets.set('src/built.json', JSON.stringify({ commit: commitOf(root) }));

/** The paths are relative: Node.js writes that of the main script into the executable, and shows it in stacks. */
function keep(name: string, text: string): string {
  const path = join(PARTS, name);
  write(path, text);
  return path;
}

const config = {
  main: keep('todo-service.js', main),
  output: OUTPUT,
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
  // Else SIGUSR1 opens a debugger, by which any local user reads the secrets. A listener comes too late here.
  execArgv: ['--disable-sigusr1'],
  // In one order, whichever module was read first.
  assets: Object.fromEntries(
    Array.from(assets, ([name, text]) => [name, keep(join('assets', name), text)]).sort(),
  ),
};
write('build/LICENSES.txt', licensesOf([...packages, 'node_modules/@scalar/fastify-api-reference']));

// The code cache has the hashes of strings in it: with a seed of its own, each build would be another file. The
// seed of the executable is random nevertheless.
run(process.execPath, '--random-seed=1', '--build-sea', keep('sea.json', JSON.stringify(config)));
// macOS runs no executable whose signature does not fit.
if (process.platform === 'darwin') run('codesign', '--force', '--sign', '-', OUTPUT);
writeCompletions(commandsOf([OUTPUT]), 'build/completions');
