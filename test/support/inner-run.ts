import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Folder, temporaryFolder } from './folder.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

interface InnerRun {
  readonly code: number;
  /** With the folder of the files as `FOLDER`. */
  readonly stdout: string;
  readonly folder: string;
}

/** Runs test files, by their names, as the scripts of package.json do. */
export async function runTests(
  files: Readonly<Record<string, string>>,
  { env = {}, flags = [] }: { env?: Readonly<Record<string, string>>; flags?: readonly string[] } = {},
): Promise<InnerRun> {
  await using folder: Folder = await temporaryFolder();
  const names = Object.entries(files).map(([name, content]) => folder.write(`${name}.test.mjs`, content));
  const {
    NODE_TEST_CONTEXT: _,
    NODE_REDIRECT_WARNINGS: __,
    LEFT_OUT: ___,
    TITLES: ____,
    ...inherited
  } = process.env;
  const runner = execFile('tools/test', [...flags, ...(await Promise.all(names))], {
    cwd: project,
    env: { ...inherited, ...env },
  });
  runner.stdin?.end();
  const [stdout, [code]] = await Promise.all([
    text(runner.stdout ?? Readable.from('')),
    once(runner, 'exit'),
  ]);
  return { code, stdout, folder: folder.path };
}
