/**
 * Makes `dist/`, which the npm package carries: Node.js strips no types under `node_modules`, so a user needs
 * JavaScript. A clone runs `src/` as it is and needs none of this.
 */
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './command.ts';
import { commandsOf, writeCompletions } from './completions.ts';
import { commitOf } from './origin.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });

const tsc = join(root, 'node_modules', '.bin', 'tsc');
run(tsc, '--project', join(root, 'tsconfig.build.json'));

// tsc copies nothing that it does not compile: the migrations, for one.
cpSync(src, dist, { recursive: true, filter: (path) => !/\.(ts|js)$/.test(path) });

writeFileSync(join(dist, 'built.json'), JSON.stringify({ commit: commitOf(root) }));
chmodSync(join(dist, 'start.js'), 0o755);
writeCompletions(commandsOf([process.execPath, join(dist, 'start.js')]), join(dist, 'completions'));
