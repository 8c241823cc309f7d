import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newPath } from '../storage/new-files.ts';
import { start } from '../storage/sqlite-starter.ts';
import { openSqliteStore } from '../storage/sqlite-store.ts';
import { listed } from '../storage/todos.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startService } from '../support/start.ts';

test('a first start that is killed at any moment leaves nothing that the next one refuses', async () => {
  const began = performance.now();
  {
    await using undisturbed = start(newPath(), 0);
    await undisturbed.said;
  }
  const wholeMs = performance.now() - began;
  for (let part = 0.2; part <= 1.2; part += 0.025) {
    const path = newPath();
    {
      await using _first = start(path, 0);
      await pause(part * wholeMs);
    }
    await using store = await openSqliteStore(path, { patienceMs: 0 });
    assert.deepEqual(await listed(store), []);
  }
});

test('of twenty processes that start together on no file, one serves and the others name it', async () => {
  const path = newPath();
  await using starters = new AsyncDisposableStack();
  // Longer than a slow disk takes until the name of the first can be read.
  const all = Array.from({ length: 20 }, () => starters.use(start(path, 10_000)));
  const said = await Promise.all(all.map((each) => each.said));
  const serving = all.filter((_, index) => said[index]?.outcome === 'open');
  assert.equal(serving.length, 1);
  for (const { outcome, message } of said.filter((each) => each.outcome !== 'open')) {
    assert.equal(outcome, 'in-use');
    assert.match(String(message), new RegExp(`served by process ${serving[0]?.process.pid} `));
  }
  using database = new DatabaseSync(path);
  assert.equal(database.prepare('SELECT count(*) AS n FROM categories').get()?.n, 2);
});

test('of eight processes that start together on no file one serves, the others exit with 75 and name it, and categories exist once [D7]', async () => {
  await using folder = await temporaryFolder();
  await using services = new AsyncDisposableStack();
  const starts = Array.from({ length: 8 }, async (_, index) => {
    await pause(12 * index);
    const started = startService({ environment: 'development', dataDir: folder.path });
    return started.then((service) => services.use(service).pid, String);
  });
  const ends = await Promise.all(starts);
  const serving = ends.filter((end) => typeof end === 'number');
  assert.equal(serving.length, 1, ends.join('\n'));
  for (const reason of ends.filter((end) => typeof end === 'string'))
    assert.match(reason, new RegExp(`code 75[^]* is served by process ${serving[0]} on `));
  using database = new DatabaseSync(join(folder.path, 'todos.db'));
  const rows = database.prepare('SELECT name FROM categories ORDER BY id').all();
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Work', 'Life'],
  );
});
