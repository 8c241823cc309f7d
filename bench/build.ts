import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Makes JavaScript of the service, as its package has it, and of the peers and floors on Node.js: nobody starts a
 * server in production that strips types first.
 */
export function build(): void {
  run(process.execPath, at('../tools/build.ts'));
  run(at('../node_modules/.bin/tsc'), '--project', at('tsconfig.build.json'));
}

function run(program: string, ...words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, { stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`Cannot build: ${program} ended with ${status}`);
}
