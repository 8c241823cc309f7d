import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Finished, runProgram } from '../start.ts';
import { ask, post, serve } from './served.ts';

/** What the suite wants to know about an engine. */
export interface Engine {
  /** A new database without a schema, as `--database` takes it. */
  readonly make: () => Promise<string>;
  /** Of this program's schema. */
  readonly schemaVersion: number;
  /** SQL that makes the schema one of a version that does not exist yet. */
  readonly age: string;
  readonly execute: (database: string, sql: string) => Promise<void>;
  /** How commands call the database: without a password. */
  readonly nameOf: (database: string) => string;
}

/** What the commands for operators do on every engine. */
export function describeCommands(name: string, engine: Engine): void {
  describe(`${name}: categories`, () => describeCategories(engine));
  describe(`${name}: check and migrate`, () => describeSchema(engine));
}

function describeCategories({ make }: Engine): void {
  test('Resources, Category · a category that is added beside a running service can be used at once', async () => {
    const database = await make();
    await using service = await serve(database);
    await post(service, { categoryId: 3, status: 400 });
    const added = await run('categories', 'add', 'Gärten \u{1F331}', '--database', database);
    assert.deepEqual(added, { code: 0, stdout: '3\n', stderr: '' });
    await post(service, { categoryId: 3 });
    const listed = await run('categories', 'list', '--database', database);
    assert.deepEqual(listed, { code: 0, stdout: '1\tWork\n2\tLife\n3\tGärten \u{1F331}\n', stderr: '' });
  });

  test('a name that is taken is refused with 1, and nothing is added', async () => {
    const database = await make();
    await run('migrate', '--database', database);
    assert.deepEqual(await run('categories', 'add', 'Work', '--database', database), {
      code: 1,
      stdout: '',
      stderr:
        'Cannot add the category "Work": there is one of this name. See "todo-service categories list".\n',
    });
    const { stdout } = await run('categories', 'list', '--database', database);
    assert.equal(stdout, '1\tWork\n2\tLife\n');
  });

  test('a category is renamed beside a running service, and its todos stay as they are', async () => {
    const database = await make();
    await using service = await serve(database);
    await post(service, { categoryId: 2 });
    const list = await ask(service, 'GET', '/todos');
    const renamed = await run('categories', 'rename', '2', 'Haus & Gärten', '--database', database);
    assert.deepEqual(renamed, { code: 0, stdout: '2\tHaus & Gärten\n', stderr: '' });
    const { stdout } = await run('categories', 'list', '--database', database);
    assert.equal(stdout, '1\tWork\n2\tHaus & Gärten\n');
    const headers = { 'if-none-match': list.headers.get('etag') ?? '' };
    assert.equal((await ask(service, 'GET', '/todos', undefined, headers)).status, 304);
    await post(service, { categoryId: 2 });
  });

  test('a category is not renamed to the name of another, nor one that does not exist: 1', async () => {
    const database = await make();
    await run('migrate', '--database', database);
    for (const [id, name, reason] of [
      ['1', 'Life', 'another has the name "Life"'],
      ['3', 'Garden', 'there is none with this id'],
    ] as const) {
      assert.deepEqual(await run('categories', 'rename', id, name, '--database', database), {
        code: 1,
        stdout: '',
        stderr: `Cannot rename the category ${id}: ${reason}. See "todo-service categories list".\n`,
      });
    }
    const { stdout } = await run('categories', 'list', '--database', database);
    assert.equal(stdout, '1\tWork\n2\tLife\n');
  });
}

function describeSchema({ make, age, execute, nameOf, schemaVersion }: Engine): void {
  test('check is content beside a running service, and says what it found', async () => {
    const database = await make();
    await using service = await serve(database);
    await post(service);
    const { code, stdout, stderr } = await run('check', '--database', database);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const lines = stdout.split('\n');
    assert.equal(lines[0]?.replace(/^database +/, ''), nameOf(database));
    for (const line of [
      /^engine +(SQLite|PostgreSQL) \d+\.\d+/,
      new RegExp(`^schema version +${schemaVersion}$`),
      /^categories +2$/,
      /^todos +1$/,
      /^All is well\.$/,
    ]) {
      assert.ok(
        lines.some((found) => line.test(found)),
        `no line is like ${line} in:\n${stdout}`,
      );
    }
  });

  test('migrate says from which version to which, and the second time that there was nothing to do', async () => {
    const database = await make();
    assert.deepEqual(await run('migrate', '--database', database), {
      code: 0,
      stdout: `Brought the schema of ${nameOf(database)} from version 0 to ${schemaVersion}.\n`,
      stderr: '',
    });
    assert.deepEqual(await run('migrate', '--database', database), {
      code: 0,
      stdout: `The schema of ${nameOf(database)} was at version ${schemaVersion} already.\n`,
      stderr: '',
    });
  });

  test('a start that migrates says from which version to which, and the next start nothing of it', async () => {
    const database = await make();
    const lines: unknown[] = [];
    for (let start = 1; start <= 2; start += 1) {
      await using service = await serve(database);
      for (const line of service.stdout().trimEnd().split('\n')) {
        const { level, event, from, to } = JSON.parse(line);
        lines.push([level, event, from, to]);
      }
    }
    assert.deepEqual(lines, [
      ['info', 'schema-migrated', 0, schemaVersion],
      ['info', 'started', undefined, undefined],
      ['info', 'started', undefined, undefined],
    ]);
  });

  for (const words of [
    ['migrate'],
    ['check'],
    ['categories', 'list'],
    ['categories', 'add', 'Garden'],
    ['categories', 'rename', '1', 'Garden'],
  ]) {
    test(`${words.join(' ')} refuses a newer schema with 69`, async () => {
      const database = await make();
      await run('migrate', '--database', database);
      await execute(database, age);
      const { code, stderr } = await run(...words, '--database', database);
      assert.equal(code, 69);
      assert.match(
        stderr,
        new RegExp(
          `^Cannot [^\\n]*: its schema must be version ${schemaVersion} or older, received 99: a newer todo-service made it\\n$`,
        ),
      );
    });
  }

  for (const words of [
    ['check'],
    ['categories', 'list'],
    ['categories', 'add', 'Garden'],
    ['categories', 'rename', '1', 'Garden'],
  ]) {
    test(`${words.join(' ')} makes no database: without a schema it ends with 69`, async () => {
      const database = await make();
      const { code, stderr } = await run(...words, '--database', database);
      assert.equal(code, 69);
      assert.match(stderr, /^Cannot [^\n]*: (there is no such file, [^\n]*|[^\n]* received 0: [^\n]*)\n$/);
      const { stdout } = await run('migrate', '--database', database);
      assert.ok(stdout.endsWith(`from version 0 to ${schemaVersion}.\n`), stdout);
    });
  }
}

function run(...words: readonly string[]): Promise<Finished> {
  return runProgram(words);
}
