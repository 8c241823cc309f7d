import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lockFile } from '../../src/storage/sqlite/owner-lock.ts';
import { runCommand } from '../support/run-command.ts';
import { execute, newDatabase, newPath } from './new-files.ts';
import { start } from './sqlite-starter.ts';
import { migrateSqlite } from './sqlite-store.ts';

const PROCESS = fileURLToPath(new URL('./owner-process.ts', import.meta.url));

/** A process that takes and frees files. */
class Starter {
  readonly #process: ChildProcess = fork(PROCESS);
  readonly #waiting = new Map<string, (outcome: string) => void>();

  constructor() {
    this.#process.setMaxListeners(0);
    this.#process.on('message', ({ path, outcome }: { path: string; outcome: string }) =>
      this.#waiting.get(path)?.(outcome),
    );
    after(() => this.#process.kill('SIGKILL'));
  }

  /** What comes of a start on a file, with so many milliseconds of patience; without, it is freed. */
  ask(path: string, patienceMs?: number): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#waiting.set(path, resolve);
    this.#process.send({ path, patienceMs });
    return promise;
  }
}

const first = new Starter();
const others = Array.from({ length: 5 }, () => new Starter());

/** Changes the sidecar of a database in place, as another program would. */
type Damage = (sidecar: string) => void;

const change =
  (changed: (bytes: Buffer) => Uint8Array): Damage =>
  (sidecar) =>
    writeFileSync(sidecar, changed(readFileSync(sidecar)));
const set = (values: Readonly<Record<number, number>>) =>
  change((bytes) => {
    for (const [at, value] of Object.entries(values)) bytes[Number(at)] = value;
    return bytes;
  });
/** Replaces the last character of a text in the schema of the sidecar. */
const misspell = (text: string) =>
  change((bytes) => {
    bytes[bytes.indexOf(text) + text.length - 1] = 0x78;
    return bytes;
  });

const DAMAGES: Readonly<Record<string, Damage>> = {
  'nothing is changed': () => {},
  'it is empty': change(() => Buffer.alloc(0)),
  'it has one byte': change((bytes) => bytes.subarray(0, 1)),
  'it is cut in its header': change((bytes) => bytes.subarray(0, 50)),
  'it is cut in its first page': change((bytes) => bytes.subarray(0, 2_000)),
  'it is cut behind its first page': change((bytes) => bytes.subarray(0, 4_096)),
  'it is cut in its second page': change((bytes) => bytes.subarray(0, 5_000)),
  'it is longer': (sidecar) => appendFileSync(sidecar, randomBytes(50_000)),
  'it is a text': change(() => Buffer.from('locked by me\n')),
  'it has zeros alone': change((bytes) => Buffer.alloc(bytes.length)),
  'it has random bytes alone': change((bytes) => randomBytes(bytes.length)),
  'its first page has zeros behind byte 100': change((bytes) => bytes.fill(0, 100, 4_096)),
  'its second page has zeros': change((bytes) => bytes.fill(0, 4_096)),
  'its second page has random bytes': change((bytes) =>
    Buffer.concat([bytes.subarray(0, 4_096), randomBytes(4_096)]),
  ),
  'it has a write-ahead log': set({ 18: 2, 19: 2 }),
  'it may only be read': set({ 18: 3 }),
  'its schema is of a format to come': set({ 47: 9 }),
  'its table lacks a column': misspell('host'),
  'its table has another name': misspell('CREATE TABLE owner'),
  'its table admits no row': misspell('(only = 1'),
  'a log lies beside it': (sidecar) => writeFileSync(`${sidecar}-wal`, randomBytes(9_000)),
  'a journal lies beside it': (sidecar) => writeFileSync(`${sidecar}-journal`, randomBytes(9_000)),
  ...Object.fromEntries(
    Array.from({ length: 100 }, (_, at): [string, Damage] => [
      `byte ${at} of its header is inverted`,
      change((bytes) => {
        bytes[at] = 0xff ^ (bytes[at] ?? 0);
        return bytes;
      }),
    ]),
  ),
};

/** What comes of five starts at once on a database whose sidecar was damaged, held by a sixth process or not. */
async function fiveStarts(damage: Damage, isHeld: boolean, patienceMs: number): Promise<readonly string[]> {
  const path = newPath();
  assert.equal(await first.ask(path, 0), 'held');
  if (!isHeld) assert.equal(await first.ask(path), 'free');
  const { ino } = statSync(`${path}-owner`);
  damage(`${path}-owner`);
  const outcomes = await Promise.all(others.map((other) => other.ask(path, patienceMs)));
  assert.equal(statSync(`${path}-owner`).ino, ino);
  await Promise.all([first, ...others].map((each) => each.ask(path)));
  return outcomes.sort();
}

const byDamage = async (isHeld: boolean, patienceMs: number) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(DAMAGES).map(async ([name, damage]) => [
        name,
        await fiveStarts(damage, isHeld, patienceMs),
      ]),
    ),
  );
const allWith = (outcomes: readonly string[]) =>
  Object.fromEntries(Object.keys(DAMAGES).map((name) => [name, outcomes]));

test('whatever is done to todos.db-owner while a process holds it, five starts at once find it held [D6]', async () => {
  assert.deepEqual(await byDamage(true, 0), allWith(Array.from({ length: 5 }, () => 'in-use')));
});

test('whatever was done to todos.db-owner when nobody holds it, one of five starts at once gets it [D6]', async () => {
  assert.deepEqual(await byDamage(false, 2_000), allWith(['held', 'in-use', 'in-use', 'in-use', 'in-use']));
});

test('a damaged todos.db-owner keeps no command from its work, and a held one lets none in (75) [D6]', async () => {
  const path = await newDatabase();
  const copy = newPath('copy.db');
  const database = ['--database', `sqlite:${path}`];
  assert.equal((await runCommand(['backup', copy, ...database])).code, 0);
  const commands = [
    ['migrate', ...database],
    ['restore', copy, ...database],
  ];
  for (const words of commands) {
    writeFileSync(`${path}-owner`, 'no database at all');
    const { code, stderr } = await runCommand(words);
    assert.deepEqual([words[0], code, stderr], [words[0], 0, '']);
  }
  await using holder = start(path, 0);
  assert.equal((await holder.said).outcome, 'open');
  for (const words of commands) {
    writeFileSync(`${path}-owner`, 'no database at all');
    const { code, stderr } = await runCommand(words);
    assert.deepEqual([words[0], code], [words[0], 75]);
    const reason = `Cannot open the database "${path}": it is served by another process. One SQLite file is served by one process`;
    assert.ok(stderr.endsWith(`: ${reason}\n`), stderr);
  }
});

const OTHER = '"todos.db-owner" is no lock of this program: move it away while no process serves todos';

test('a todos.db-owner that leads elsewhere, has a second name or is a list of todos stays as it is [D6]', async () => {
  const lock = (path: string) => lockFile(path, 0, () => {});

  const [linked, mine] = [newPath(), newPath('mine')];
  writeFileSync(mine, 'no database at all');
  symlinkSync(mine, `${linked}-owner`);
  await assert.rejects(lock(linked), { code: 'ELOOP' });
  assert.equal(readFileSync(mine, 'utf8'), 'no database at all');

  const named = newPath();
  linkSync(mine, `${named}-owner`);
  await assert.rejects(lock(named), { message: OTHER });
  assert.equal(readFileSync(mine, 'utf8'), 'no database at all');

  const path = newPath();
  await migrateSqlite(`${path}-owner`);
  execute(`${path}-owner`, "INSERT INTO todos (title, category_id) VALUES ('kept', 1)");
  const before = readFileSync(`${path}-owner`);
  await assert.rejects(lock(path), { message: OTHER });
  assert.deepEqual(readFileSync(`${path}-owner`), before);
});

test('a program that reads todos.db-owner for a moment keeps no start away [D6]', async () => {
  const path = await newDatabase();
  const reader = new DatabaseSync(`${path}-owner`);
  reader.exec('BEGIN; SELECT 1 FROM owner');
  let outcome: string | undefined;
  const asked = first.ask(path, 0).then((answer) => {
    outcome = answer;
  });
  while (outcome === undefined && !existsSync(`${path}-owner-journal`)) await pause(5);
  reader.close();
  await asked;
  assert.equal(outcome, 'held');
});

test('a folder in the place of todos.db-owner is named [D6]', async () => {
  const path = newPath();
  mkdirSync(join(dirname(path), 'todos.db-owner'));
  await assert.rejects(
    lockFile(path, 0, () => {}),
    { message: '"todos.db-owner" is a folder: remove it' },
  );
});
