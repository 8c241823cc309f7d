import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { runProgram } from '../start.ts';
import { PostgresServer } from '../storage/postgres-server.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

/** Megabytes. A command that does little needs some 10, and the todos of the file below would take 25 more. */
const HEAP = 24;

test('an import and an export keep no more than parts of a long file in memory, on either engine', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'todos.jsonl');
  const lines = [
    '{"format":"todo-service-export","version":1,"categories":1,"todos":100000}\n{"id":1,"name":"Work"}\n',
  ];
  for (let id = 1; id <= 100_000; id += 1)
    lines.push(`${JSON.stringify({ id, title: `${id} `.padEnd(100, 'x'), done: false, categoryId: 1 })}\n`);
  const text = lines.join('');
  writeFileSync(file, `${text}{"sha256":"${createHash('sha256').update(text).digest('hex')}"}\n`);
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP}` };
  for (const database of [`sqlite:${join(folder.path, 'todos.db')}`, await server.makeDatabase()]) {
    const run = (...words: string[]) => runProgram([...words, '--database', database], { env });
    assert.equal((await run('import', file)).code, 0);
    assert.equal((await run('import', '--only', 'deleted', file)).code, 0);
    assert.equal((await run('export', `${file}.copy.${database.slice(0, 3)}`)).code, 0);
  }
});
