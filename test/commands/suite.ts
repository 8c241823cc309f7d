import assert from 'node:assert/strict';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../folder.ts';
import { type Finished, runProgram } from '../start.ts';
import { ask, post, serve, titles } from './served.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** What the suite wants to know about an engine. */
export interface Engine {
  /** A new database without a schema, as `--database` takes it. */
  readonly make: () => Promise<string>;
  /** Of this program's schema. */
  readonly schemaVersion: number;
  /** The folder of its migrations in a checkout. */
  readonly migrations: string;
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

function describeSchema(engine: Engine): void {
  const { make, nameOf, schemaVersion } = engine;

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

  test('a newer schema is for no older program unless its migration says so: 69, and what to do', async () => {
    const database = await make();
    await using next = await nextProgram(engine, 'ALTER TABLE todos ADD COLUMN next text');
    await runProgram(['migrate', '--database', database], { checkout: next.path });
    const reason =
      `its schema must be version ${schemaVersion} or older, received ${schemaVersion + 1}, for programs from ` +
      `${schemaVersion + 1} on: start the newer todo-service that made it, or export with that one and import with this one\n`;
    for (const words of [['migrate'], ['check'], ['export'], ['categories', 'add', 'Garden']]) {
      const { code, stdout, stderr } = await run(...words, '--database', database);
      assert.deepEqual({ code, stdout }, { code: 69, stdout: '' });
      assert.match(stderr, /^Cannot [^\n]*\n$/);
      assert.ok(stderr.endsWith(reason), stderr);
    }
    await assert.rejects(
      serve(database),
      (error: Error) => /code 69/.test(error.message) && error.message.includes(reason),
    );
  });

  test('the way back of an upgrade: this program imports what the next one exported', async () => {
    await using next = await nextProgram(engine, 'ALTER TABLE todos ADD COLUMN next text');
    const newer = await make();
    {
      await using service = await serve(newer, { checkout: next.path });
      await post(service, { title: 'by the next program' });
    }
    const { stdout } = await runProgram(['export', '--database', newer], { checkout: next.path });
    const older = await make();
    const { code, stderr } = await runProgram(['import', '-', '--database', older], { input: stdout });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.equal((await run('export', '--database', older)).stdout, stdout);
    await using service = await serve(older);
    assert.deepEqual(await titles(service), ['by the next program']);
  });

  test('a newer schema whose migration names this program is used: by a start, by /ready and by each command', async () => {
    const database = await make();
    await using next = await nextProgram(
      engine,
      `-- Oldest program: ${schemaVersion}\nALTER TABLE todos ADD COLUMN next text`,
    );
    await runProgram(['migrate', '--database', database], { checkout: next.path });
    {
      await using service = await serve(database, { env: { TODO_ADMIN_PORT: '0' } });
      const [first, started] = service.stdout().split('\n');
      const { level, event, version, own } = JSON.parse(first ?? '');
      assert.deepEqual(
        [level, event, version, own],
        ['info', 'schema-newer', schemaVersion + 1, schemaVersion],
      );
      await post(service, { title: 'by the older program' });
      const { adminUrl } = JSON.parse(started ?? '');
      assert.equal((await fetch(`${adminUrl}/ready`)).status, 200);
    }
    const checked = await run('check', '--database', database);
    assert.match(
      checked.stdout,
      new RegExp(`\nschema version +${schemaVersion + 1}\n[^]*\nAll is well\\.\n$`),
    );
    assert.equal((await run('categories', 'add', 'Garden', '--database', database)).stdout, '3\n');
    assert.deepEqual(await run('export', '--database', database), {
      code: 69,
      stdout: '',
      stderr:
        `Cannot export: Cannot open the database "${nameOf(database).replace(/^sqlite:/, '')}": its schema is version ` +
        `${schemaVersion + 1}, of which this program knows ${schemaVersion}, so the rest would be missing: export with ` +
        'the newer todo-service\n',
    });
    assert.deepEqual(await run('migrate', '--database', database), {
      code: 0,
      stdout: `The schema of ${nameOf(database)} was at version ${schemaVersion + 1} already.\n`,
      stderr: '',
    });
    await using service = await serve(database, { checkout: next.path });
    assert.deepEqual(await titles(service), ['by the older program']);
  });

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

/** A checkout of this program with one more migration: the next version. */
export async function nextProgram(
  { migrations, schemaVersion }: Engine,
  sql: string,
): Promise<{ path: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  await cp(join(project, 'src'), join(folder.path, 'src'), { recursive: true });
  for (const name of ['package.json', 'node_modules'])
    await symlink(join(project, name), join(folder.path, name));
  const number = String(schemaVersion + 1).padStart(4, '0');
  await writeFile(join(folder.path, migrations, `${number}-next.sql`), `${sql};\n`);
  return folder;
}

function run(...words: readonly string[]): Promise<Finished> {
  return runProgram(words);
}
