import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, mock, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { compileDisk, noDisk, runOnDisk } from '../../../test/storage/disk.ts';
import { execute, newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { replacement } from '../../../test/storage/todos.ts';
import type { Commit } from '../../events.ts';
import { makeDurable } from './durability.ts';
import { knownFile } from './file.ts';
import { DatabaseHealth } from './health.ts';
import { type Changed, Writer } from './writer.ts';
import type { Write } from './writer-thread.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

afterEach(() => mock.restoreAll());

const ADD = { kind: 'add', todo: replacement('a', false, 1), once: undefined } as const;
const replace = (id: number, title = 'b') =>
  ({ kind: 'replace', id, todo: replacement(title, true, 1), preconditions: {} }) as const;
const remove = (id: number) => ({ kind: 'remove', id, preconditions: {} }) as const;

/** A writer whose thread has told of its start, and what it says from then on. */
async function started() {
  await using parts = new AsyncDisposableStack();
  const path = await newDatabase();
  const database = parts.use(new DatabaseSync(path));
  makeDurable(database);
  database.exec('SELECT 1 FROM sqlite_schema');
  const health = parts.use(new DatabaseHealth(knownFile(path, path), database, () => {}));
  const heard: (Changed | Commit | string)[] = [];
  const begun = Promise.withResolvers<void>();
  const writer = parts.use(
    new Writer(health, (changed) => {
      heard.push(changed);
      begun.resolve();
    }),
  );
  await begun.promise;
  heard.length = 0;
  const opened = parts.move();
  return { path, writer, heard, health, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

test('the thread starts by itself: its first word is that everything may have changed', async () => {
  await using parts = await started();
  assert.deepEqual(parts.heard, []);
  assert.deepEqual(parts.writer.underWay, { ids: new Set(), adds: false });
});

test('what another program commits is told once, though nobody writes', { timeout: 600_000 }, async () => {
  await using parts = await started();
  const { heard, path, writer } = parts;
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('a', 1)");
  while (heard.length === 0) await pause(10);
  await writer.write(ADD);
  assert.deepEqual(heard, ['all', [2]]);
});

test('a log that another program has grown is cut to 4 MiB by the next writes', async () => {
  await using parts = await started();
  const { path, writer } = parts;
  using program = new DatabaseSync(path);
  program.exec(`PRAGMA wal_autocheckpoint = 0; CREATE TABLE others (x);
    INSERT INTO others VALUES (zeroblob(${5 * 2 ** 20}))`);
  const size = () => statSync(`${path}-wal`).size;
  assert.ok(size() > 5 * 2 ** 20);
  // The first brings the pages of the log into the file, the second begins the log anew.
  await writer.write(ADD);
  await writer.write(ADD);
  assert.equal(size(), 4 * 2 ** 20);
});

test('a refusal by a schema that was there for a while does not stay [D11]', async () => {
  await using parts = await started();
  const { path, writer, health } = parts;
  using program = new DatabaseSync(path);
  program.exec('ALTER TABLE todos RENAME TO kept; CREATE VIEW todos AS SELECT * FROM kept');
  await assert.rejects(writer.write(ADD), { name: 'StoreBroken' });
  program.exec('DROP VIEW todos; ALTER TABLE kept RENAME TO todos');
  health.check();
  assert.equal(Object(await writer.write(ADD)).id, 1);
});

test('a file that cannot be read for a moment does not end the look for changes [D9]', {
  timeout: 600_000,
}, async () => {
  await using parts = await started();
  const { heard, path } = parts;
  using program = new DatabaseSync(path);
  const add = () => program.exec("INSERT INTO todos (title, category_id) VALUES ('a', 1)");
  add();
  while (heard.length === 0) await pause(10);
  // By another process: this one would lose its locks.
  const copy = (from: string, to: string) =>
    execFileSync('dd', [`if=${from}`, `of=${to}`, 'bs=4096', 'count=1', 'conv=notrunc', 'status=none']);
  const page = newPath('page');
  copy(path, page);
  copy('/dev/zero', path);
  add();
  // Several looks.
  await pause(300);
  copy(page, path);
  heard.length = 0;
  add();
  while (heard.length === 0) await pause(10);
  assert.equal(heard[0], 'all');
});

test('the writes of one turn are one commit, of which the caches hear before its writers', async () => {
  await using parts = await started();
  const { writer, heard } = parts;
  const writes: readonly Write[] = [ADD, ADD, replace(1), remove(2), replace(9), { kind: 'probe' }];
  const onCommitted = (commit: Commit) => void heard.push(commit);
  await Promise.all(
    writes.map((write, index) =>
      writer.write(write, onCommitted).then((outcome) => {
        heard.push(typeof outcome === 'string' ? outcome : `added ${index + 1}`);
      }),
    ),
  );
  const [changed, ...others] = heard;
  assert.deepEqual(changed, [1, 2, 1, 2]);
  const commits = others.splice(0, writes.length) as Commit[];
  assert.deepEqual(new Set(commits).size, 1);
  assert.equal(commits[0]?.writes, 4);
  assert.ok(Number(commits[0]?.from) < Number(commits[0]?.until));
  assert.deepEqual(others, ['added 1', 'added 2', 'replaced', 'removed', 'todo-missing', 'written']);
});

test('what a batch may change is known from its sending to its end', async () => {
  await using parts = await started();
  const { writer } = parts;
  await writer.write(ADD);
  const seen: unknown[] = [];
  const look = () => seen.push([[...writer.underWay.ids], writer.underWay.adds]);
  const written = [ADD, replace(1), remove(2), { kind: 'probe' } as const].map((write) =>
    writer.write(write),
  );
  look();
  // A batch is sent in the next turn.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  look();
  await Promise.all(written);
  look();
  assert.deepEqual(seen, [
    [[], false],
    [[1, 2], true],
    [[], false],
  ]);
});

test('writes that are refused tell nobody of a change or a commit', async () => {
  await using parts = await started();
  const { writer, heard } = parts;
  const onCommitted = (commit: Commit) => void heard.push(commit);
  assert.equal(await writer.write(replace(1), onCommitted), 'todo-missing');
  assert.equal(await writer.write(remove(1), onCommitted), 'todo-missing');
  assert.equal(await writer.write({ ...ADD, todo: replacement('a', false, 9) }), 'category-missing');
  assert.deepEqual(heard, []);
});

test('writes that come while a batch is under way are the next batch', async () => {
  await using parts = await started();
  const { writer, heard } = parts;
  const later: Promise<unknown>[] = [];
  const onCommitted = ({ writes }: Commit) => {
    heard.push(`${writes} writes`);
    later.push(...[ADD, ADD].map((write) => writer.write(write)));
  };
  await writer.write(ADD, onCommitted);
  await Promise.all(later);
  assert.deepEqual(heard, [[1], '1 writes', [2, 3]]);
  // The writer was idle, and takes a write again.
  assert.equal(Object(await writer.write(ADD)).id, 4);
});

test('a write that waits when the writer is closed is made, and none is made later', async () => {
  const parts = await started();
  const { writer, path } = parts;
  const waiting = writer.write(ADD);
  await writer[Symbol.asyncDispose]();
  assert.equal(Object(await waiting).id, 1);
  await assert.rejects(writer.write(ADD), {
    name: 'StoreUnavailable',
    message: 'The thread writer-thread.ts was closed',
  });
  await parts[Symbol.asyncDispose]();
  using database = new DatabaseSync(path);
  assert.equal(database.prepare('SELECT count(*) AS todos FROM todos').get()?.todos, 1);
});

test('a commit of the last 5 s proves that writes reach the disk, an older one does not', async () => {
  await using parts = await started();
  const { writer, path } = parts;
  const logged = () => statSync(`${path}-wal`).size;
  let now = 1_000_000;
  mock.method(performance, 'now', () => now);
  const writes = async (probe: Promise<void>) => {
    const before = logged();
    await probe;
    return logged() > before;
  };
  assert.equal(await writes(writer.probe()), true);
  now += 4_999;
  assert.equal(await writes(writer.probe()), false);
  now += 1;
  assert.equal(await writes(writer.probe()), true);
});

test('a database that cannot be used takes no write, and a probe says why, also right after a commit', async () => {
  await using parts = await started();
  const { writer, health, path } = parts;
  await writer.write(ADD);
  rmSync(path);
  const broken = { name: 'StoreBroken', message: '"todos.db" was deleted or moved away' };
  await assert.rejects(writer.write(ADD), broken);
  assert.equal(health.fault?.message, broken.message);
  await assert.rejects(writer.probe(), broken);
});

test('of a batch of unknown outcome every cache forgets everything, before its writers hear of it [D9]', {
  skip,
}, async () => {
  const path = await newDatabase();
  execute(
    path,
    `CREATE TABLE owners (todo INTEGER REFERENCES todos (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER other AFTER INSERT ON todos WHEN NEW.title = 'refused' BEGIN INSERT INTO owners VALUES (-1); END`,
  );
  const broken = newPath('broken');
  const module = (name: string) => new URL(`./${name}.ts`, import.meta.url).href;
  const said = runOnDisk(
    { ...library, DISK_FOLDER: dirname(path), DISK_BROKEN: broken },
    `import { writeFileSync } from 'node:fs';
    import { DatabaseSync } from 'node:sqlite';
    import { makeDurable } from '${module('durability')}';
    import { knownFile } from '${module('file')}';
    import { DatabaseHealth } from '${module('health')}';
    import { Writer } from '${module('writer')}';
    const database = new DatabaseSync('${path}');
    makeDurable(database);
    database.exec('SELECT 1 FROM sqlite_schema');
    const heard = [];
    {
      await using writer = new Writer(new DatabaseHealth(knownFile('${path}', '${path}'), database, () => {}), (changed) => heard.push(changed));
      await writer.write(${JSON.stringify(ADD)});
      writeFileSync('${broken}', '');
      await Promise.all([1, 2].map(() => writer.write(${JSON.stringify(ADD)}).catch(({ name }) => heard.push(name))));
      await writer.probe().catch(({ name }) => heard.push(name));
      // The commit of both is refused before its sync, and each is tried alone.
      const refused = writer.write(${JSON.stringify({ ...ADD, todo: replacement('refused', false, 1) })});
      await Promise.all([writer.write(${JSON.stringify(ADD)}), refused].map((write) => write.catch(({ name }) => heard.push(name))));
    }
    console.log(JSON.stringify(heard));`,
  );
  assert.deepEqual(JSON.parse(said), [
    'all',
    [1],
    'all',
    'OutcomeUnknown',
    'OutcomeUnknown',
    'all',
    'OutcomeUnknown',
    'all',
    'StoreBroken',
    'OutcomeUnknown',
  ]);
});
