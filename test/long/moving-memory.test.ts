import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { exportOf, idsTo } from '../storage/moving.ts';
import { newPath } from '../storage/new-files.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { runProgram } from '../support/start.ts';

const server = await PostgresServer.startForAll();

/** Megabytes. A command that does little needs some 10, and the todos of the file below would take 25 more. */
const HEAP = 24;

test('an import and an export keep no more than parts of a long file in memory, on either engine', async () => {
  const file = newPath('todos.jsonl');
  writeFileSync(
    file,
    exportOf(idsTo(100_000), (id) => `${id} `.padEnd(100, 'x')),
  );
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP}` };
  for (const database of [`sqlite:${newPath()}`, await server.makeDatabase()])
    for (const words of [['import'], ['export']]) {
      const target = words[0] === 'export' ? newPath('copy.jsonl') : file;
      const { code } = await runProgram([...words, target, '--database', database], { env });
      assert.equal(code, 0, `${words} ${database}`);
    }
});
