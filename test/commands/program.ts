import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../src/start.js', import.meta.url));

/** Starts `todo-service` for a test that feeds it, leaves it or ends it. */
export function start(
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...words], { env: { ...inherited, ...variables } });
  child.stdin.on('error', () => {});
  return child;
}

/** How a program ends, by its exit code or a signal, and what it says on standard error. */
export async function endOf(child: ChildProcessWithoutNullStreams) {
  const [said, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { end: code ?? signal, said };
}
