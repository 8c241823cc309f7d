import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** Where this process, its threads and the programs that it starts leave their warnings. There is none as a rule. */
const FILE = join(tmpdir(), `todo-warnings-${process.pid}`);

/** Notes the warnings of Node.js in this thread from now on, and in programs that are started from now on. */
export function noteWarnings(): void {
  process.on('warning', ({ stack }) => appendFileSync(FILE, `${stack}\n`));
  if (!isMainThread) return;
  process.env.NODE_REDIRECT_WARNINGS = FILE;
  takeWarnings();
}

/** What was noted since the last call. */
export function takeWarnings(): readonly string[] {
  try {
    const text = readFileSync(FILE, 'utf8');
    rmSync(FILE);
    return [text.trim()];
  } catch {
    return [];
  }
}
