import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../folder.ts';
import { runProgram } from '../start.ts';
import { serve } from '../storage/served.ts';
import { engines, server } from './engines.ts';
import { page, recipe, sh } from './recipes.ts';

const PAGE = await page('moving-data.md');

const ADD = "INSERT INTO todos (title, category_id) VALUES ('a', 1)";

test('the recipe for a file that another program writes is right word for word', async () => {
  await using folder = await temporaryFolder();
  const lines = PAGE.slice(PAGE.lastIndexOf('```sh\n') + 6, PAGE.lastIndexOf('```'));
  const database = `sqlite:${join(folder.path, 'todos.db')}`;
  const { code, stderr } = await sh(folder.path, lines, { env: { TODO_DATABASE: database } });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const { stdout } = await runProgram(['categories', 'list', '--database', database]);
  assert.equal(stdout, '1\tGarden\n');
});

for (const [at, [name, { make, execute }]] of Object.entries(engines).entries())
  test(`one todo is put back into ${name} beside the service by the INSERT of the page: its tag is as before, the next id too`, async () => {
    const sql = [...recipe(PAGE, 'One todo back', /INSERT/).matchAll(/"(INSERT [^"]+)"/g)][at]?.[1];
    const database = await make();
    await using service = await serve(database);
    await execute(database, Array.from({ length: 18 }, () => ADD).join(';'));
    await service.ask('PUT', '/todos/17', { title: 'Water the plants', done: true, categoryId: 1 });
    const tags = async () => {
      const replies = await Promise.all(['/todos/17', '/todos'].map((path) => service.ask('GET', path)));
      return replies.map(({ status, headers }) => [status, headers.get('etag')]);
    };
    const before = await tags();
    await service.ask('DELETE', '/todos/17');
    assert.notDeepEqual(await tags(), before);
    await execute(database, sql ?? assert.fail('no SQL'));
    // SQLite: within 100 ms.
    while (JSON.stringify(await tags()) !== JSON.stringify(before)) await sleep(20);
    assert.match(
      (await service.ask('POST', '/todos', { title: 'a', categoryId: 1 })).headers.get('location') ?? '',
      /\/19$/,
    );
  });

for (const deleted of [['', '-wal', '-shm'], [''], ['-wal']]) {
  const names = deleted.map((suffix) => `todos.db${suffix}`);
  test(`what incidents.md says saves every answered write when ${names} is deleted`, {
    skip: process.platform !== 'linux' && 'only Linux has /proc',
  }, async () => {
    await using folder = await temporaryFolder();
    const database = join(folder.path, 'todos.db');
    await using service = await serve(`sqlite:${database}`);
    await service.post({ title: 'answered' });
    for (const name of names) await rm(join(folder.path, name));
    const lines = recipe(await page('incidents.md'), 'When the SQLite file is gone', /proc/);
    const { code, stdout, stderr } = await sh(folder.path, lines, { env: { PID: String(service.pid) } });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /todos +1\nAll is well\.\n$/);
  });
}

test('what postgresql.md says about ids of lost todos skips 1,000 of them', async () => {
  const url = await server.makeMigrated();
  const sql = /```sql\n(SELECT setval.+)\n```/.exec(await page('postgresql.md'))?.[1];
  await server.execute(url, `${ADD}; ${sql ?? assert.fail('no SQL')}`);
  assert.deepEqual(await server.execute(url, `${ADD} RETURNING id`), [{ id: 1_002 }]);
});
