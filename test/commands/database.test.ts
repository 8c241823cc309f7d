import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { put } from '../storage/damage.ts';
import { execute, fill, newDatabase, newPath } from '../storage/new-files.ts';
import { PASSWORD } from '../storage/postgres-server.ts';
import { serve } from '../storage/served.ts';
import { nextCheckout } from '../support/next-checkout.ts';
import { runCommand } from '../support/run-command.ts';
import { endOf, preloading, start } from '../support/start.ts';
import { type Engine, engines, printed, refused, run, server } from './engines.ts';

async function nextProgram(head?: (schemaVersion: number) => string): Promise<{ readonly checkout: string }> {
  const folder = await nextCheckout(head);
  after(() => folder[Symbol.asyncDispose]());
  return { checkout: folder.path };
}

const NEXT = await nextProgram();
const NEXT_FOR_BOTH = await nextProgram((schemaVersion) => `-- Oldest program: ${schemaVersion}\n`);

for (const [name, engine] of Object.entries(engines)) {
  describe(`${name}: categories`, () => describeCategories(engine));
  describe(`${name}: check and migrate`, () => describeSchema(engine));
}

function describeCategories({ make, makeMigrated, execute, leavingOut }: Engine): void {
  const LIST = ['categories', 'list'];

  test('a category that is added beside a running service can be used at once [Resources, Category]', async () => {
    const database = await make();
    await using service = await serve(database);
    await service.post({ categoryId: 3, status: 400 });
    assert.equal(await printed(database, ['categories', 'add', 'Gärten \u{1F331}']), '3\n');
    await service.post({ categoryId: 3 });
    assert.equal(await printed(database, LIST), '1\tWork\n2\tLife\n3\tGärten \u{1F331}\n');
  });

  test('a category is renamed beside a running service, and its todos stay as they are', async () => {
    const database = await make();
    await using service = await serve(database);
    await service.post({ categoryId: 2 });
    const list = await service.ask('GET', '/todos');
    // The second time it has this name already.
    for (let times = 1; times <= 2; times += 1) {
      const renamed = await printed(database, ['categories', 'rename', '2', 'Haus & Gärten']);
      assert.equal(renamed, '2\tHaus & Gärten\n');
    }
    assert.equal(await printed(database, LIST), '1\tWork\n2\tHaus & Gärten\n');
    const headers = { 'if-none-match': list.headers.get('etag') ?? '' };
    assert.equal((await service.ask('GET', '/todos', undefined, headers)).status, 304);
    await service.post({ categoryId: 2 });
  });

  test('a category does not get the name of another, nor is one renamed that does not exist: 1', async () => {
    const database = await makeMigrated();
    for (const [action, words, fault] of [
      ['add', ['Work'], 'add the category "Work": another has the name "Work"'],
      ['rename', ['1', 'Life'], 'rename the category 1: another has the name "Life"'],
      ['rename', ['3', 'Garden'], 'rename the category 3: there is none with this id'],
    ] as const) {
      const stderr = `Cannot ${fault}. See "todo-service categories list".\n`;
      await refused(database, ['categories', action, ...words], { code: 1, stderr });
    }
    assert.equal(await printed(database, LIST), '1\tWork\n2\tLife\n');
  });

  for (const [when, words] of [
    ['INSERT', ['add', 'Garden']],
    ['UPDATE', ['rename', '1', 'Garden']],
  ] as const)
    test(`a category that a trigger leaves out of an ${when} has that cause: 69 [D11]`, async () => {
      const database = await makeMigrated();
      await execute(database, leavingOut('categories', "NEW.name = 'Garden'", when));
      const stderr =
        /^Cannot [^\n]*: a trigger that is not of this program leaves out a row\. "todo-service check" names it\n$/;
      await refused(database, ['categories', ...words], { code: 69, stderr });
      assert.equal(await printed(database, LIST), '1\tWork\n2\tLife\n');
    });
}

function describeSchema({ make, check, nameOf, schemaVersion }: Engine): void {
  const already = (database: string, version: number) =>
    `The schema of ${nameOf(database)} was at version ${version} already.\n`;

  test('check is content beside a running service, and says what it found', async () => {
    const database = await make();
    await using service = await serve(database);
    await service.post();
    const lines = (await check(database)).split('\n');
    assert.equal(lines[0]?.replace(/^database +/, ''), nameOf(database));
    for (const wanted of [
      /^engine +(SQLite|PostgreSQL) \d+\.\d+/,
      new RegExp(`^schema version +${schemaVersion}$`),
      /^categories +2$/,
      /^todos +1$/,
      /^All is well\.$/,
    ])
      assert.equal(lines.filter((line) => wanted.test(line)).length, 1, `${wanted} in ${lines}`);
  });

  test('migrate says from which version to which, and the second time that there was nothing to do', async () => {
    const database = await make();
    const brought = `Brought the schema of ${nameOf(database)} from version 0 to ${schemaVersion}.\n`;
    assert.equal(await printed(database, ['migrate']), brought);
    assert.equal(await printed(database, ['migrate']), already(database, schemaVersion));
  });

  test('a start that migrates says from which version to which, and the next start nothing of it', async () => {
    const database = await make();
    const lines: unknown[] = [];
    for (let start = 1; start <= 2; start += 1) {
      await using service = await serve(database);
      const told = service.log().filter(({ event }) => event !== 'request-refused');
      lines.push(...told.map(({ level, event, from, to }) => [level, event, from, to]));
    }
    assert.deepEqual(lines, [
      ['info', 'schema-migrated', 0, schemaVersion],
      ['info', 'started', undefined, undefined],
      ['info', 'started', undefined, undefined],
    ]);
  });

  test('a newer schema is for no older program unless its migration says so: 69, and what to do', async () => {
    const database = await make();
    await printed(database, ['migrate'], NEXT);
    const reason =
      `its schema must be version ${schemaVersion} or older, received ${schemaVersion + 1}, for programs from ` +
      `${schemaVersion + 1} on: start the newer todo-service that made it, or export with that one and import with this one\n`;
    for (const words of [['migrate'], ['check'], ['export']]) {
      const { code, stdout, stderr } = await run(database, words);
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
    const newer = await make();
    {
      await using service = await serve(newer, NEXT);
      await service.post({ title: 'by the next program' });
    }
    const text = await printed(newer, ['export'], NEXT);
    const older = await make();
    await printed(older, ['import', '-'], { input: text });
    assert.equal(await printed(older, ['export']), text);
    await using service = await serve(older);
    assert.deepEqual(await service.titles(), ['by the next program']);
  });

  test('a newer schema whose migration names this program is used: by a start, by /ready and by each command', async () => {
    const database = await make();
    await printed(database, ['migrate'], NEXT_FOR_BOTH);
    {
      await using service = await serve(database, { env: { TODO_ADMIN_PORT: '0' } });
      const [first] = service.log();
      assert.deepEqual(
        [first?.level, first?.event, first?.version, first?.own],
        ['info', 'schema-newer', schemaVersion + 1, schemaVersion],
      );
      await service.post({ title: 'by the older program' });
      assert.equal((await service.ready()).status, 200);
    }
    assert.match(
      await check(database),
      new RegExp(`\nschema version +${schemaVersion + 1}\n[^]*\nAll is well\\.\n$`),
    );
    assert.equal(await printed(database, ['categories', 'add', 'Garden']), '3\n');
    await refused(database, ['export'], {
      code: 69,
      stderr:
        `Cannot export: Cannot open the database "${nameOf(database).replace(/^sqlite:/, '')}": its schema is version ` +
        `${schemaVersion + 1}, of which this program knows ${schemaVersion}, so the rest would be missing: export with ` +
        'the newer todo-service\n',
    });
    assert.equal(await printed(database, ['migrate']), already(database, schemaVersion + 1));
    await using service = await serve(database, NEXT_FOR_BOTH);
    assert.deepEqual(await service.titles(), ['by the older program']);
  });

  test('no command but migrate makes a database: without a schema the others end with 69', async () => {
    const database = await make();
    const stderr = /^Cannot [^\n]*: (there is no such file, [^\n]*|[^\n]* received 0: [^\n]*)\n$/;
    for (const words of [['check'], ['categories', 'add', 'Garden']])
      await refused(database, words, { code: 69, stderr });
    assert.ok((await printed(database, ['migrate'])).endsWith(`from version 0 to ${schemaVersion}.\n`));
  });
}

test('migrate refuses with 75 while a service owns the SQLite file, and names it', async () => {
  const database = await engines.SQLite.make();
  await using service = await serve(database);
  await refused(database, ['migrate'], {
    code: 75,
    stderr: new RegExp(
      `^Cannot migrate: [^\n]* served by process ${service.pid} on \\S+ since \\S+Z\\. One SQLite file is served by one process\n$`,
    ),
  });
});

test('a backup that is made while todos are added has those that were answered before, and serves', async () => {
  const database = await engines.SQLite.make();
  const copy = newPath('copy.db');
  await using service = await serve(database);
  const before = Array.from({ length: 20 }, (_, index) => `before ${index}`);
  for (const title of before) await service.post({ title });
  const adding = Promise.all(Array.from({ length: 50 }, () => service.post({ title: 'during' })));
  const said = await printed(database, ['backup', copy]);
  await adding;
  const { size, mode } = await stat(copy);
  assert.equal((mode & 0o777).toString(8), '600');
  await using restored = await serve(`sqlite:${copy}`);
  const found = await restored.titles();
  assert.deepEqual(found.slice(0, 20), before);
  assert.equal(said, `${copy}: ${size} bytes, ${found.length} todos, checked\n`);
  await restored.post();
});

test('a backup leaves nothing but its file beside it, and counts one todo in the singular', async () => {
  const path = await newDatabase();
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('a', 1)");
  const copy = newPath('copy.db');
  assert.match(await printed(`sqlite:${path}`, ['backup', copy]), / bytes, 1 todo, checked\n$/);
  assert.deepEqual(readdirSync(dirname(copy)), ['copy.db']);
});

test('a backup never replaces what is there, nor goes where no file can be: one line and 74 [E7]', async () => {
  const path = await newDatabase();
  const taken = newPath('copy.db');
  writeFileSync(taken, 'precious');
  for (const [copy, reason] of [
    [taken, 'there is something of this name already'],
    [join(path, 'copy.db'), 'ENOTDIR: [^\n]*'],
    [newPath('x'.repeat(256)), 'ENAMETOOLONG: [^\n]*'],
  ] as const)
    await refused(`sqlite:${path}`, ['backup', copy], {
      code: 74,
      stderr: new RegExp(`^Cannot back up: "${copy}": ${reason}\n$`),
    });
  assert.equal((await stat(taken)).size, 8);
});

for (const table of ['categories', 'todos', 'idempotency_keys']) {
  test(`check finds that the table ${table} is missing: 1, and a backup of it is refused with 65 and leaves nothing behind [E7]`, async () => {
    const path = await newDatabase();
    execute(path, `DROP TABLE ${table}`);
    const fault = `no such table: ${table === 'categories' ? 'main.' : ''}${table}`;
    const { code, stdout, stderr } = await run(`sqlite:${path}`, ['check']);
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    assert.ok(stdout.endsWith(`\nFAULT  ${fault}\n`), stdout);
    const copy = newPath('copy.db');
    await refused(`sqlite:${path}`, ['backup', copy], {
      code: 65,
      stderr: new RegExp(`^Cannot back up: "${path}": ${fault}[^\n]*\n$`),
    });
    assert.deepEqual(readdirSync(dirname(copy)), []);
  });
}

test('check finds damaged pages beside the service that runs: 1', async () => {
  const path = await newDatabase();
  fill(path, 2_000, "printf('%064d', i)");
  // Nothing of this process has the file open.
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4_096, 0xa5), 0, 4_096, 11 * 4_096);
  closeSync(file);
  await using _service = await serve(`sqlite:${path}`);
  const { code, stdout } = await run(`sqlite:${path}`, ['check']);
  assert.equal(code, 1);
  assert.match(stdout, /\nFAULT {2}[^\n]*(page|malformed)[^\n]*\n/);
  assert.doesNotMatch(stdout, /All is well/);
});

test('a file that is no database, or empty, is one line and 65 [D15]', async () => {
  const path = newPath();
  writeFileSync(path, 'Dear reader, this is not a database.\n'.repeat(100));
  const all = [['migrate'], ['check'], ['backup', newPath()], ['export'], ['categories', 'list']];
  for (const words of all) {
    const stderr = /^Cannot [^\n]*: file is not a database: restore a backup\n$/;
    await refused(`sqlite:${path}`, words, { code: 65, stderr });
  }
  const [format, page] = [await newDatabase(), await newDatabase()];
  writeFileSync(format, put(readFileSync(format), 47, Buffer.of(9)));
  for (const words of all) {
    const stderr = /^Cannot [^\n]*: unsupported file format: restore a backup\n$/;
    await refused(`sqlite:${format}`, words, { code: 65, stderr });
  }
  // The page of the categories.
  writeFileSync(page, put(readFileSync(page), 4_096, Buffer.alloc(4_096)));
  for (const words of [['migrate'], ['export'], ['categories', 'list']]) {
    const stderr = /^Cannot [^\n]*: database disk image is malformed: restore a backup\n$/;
    await refused(`sqlite:${page}`, words, { code: 65, stderr });
  }
});

test('a category that cannot be added because another program holds the file is one line and 69', async () => {
  const path = await newDatabase();
  using shell = new DatabaseSync(path);
  shell.exec('BEGIN IMMEDIATE');
  const stderr = 'Cannot add the category: database is locked\n';
  await refused(`sqlite:${path}`, ['categories', 'add', 'Garden'], { code: 69, stderr });
});

for (const [command, said] of [
  ['backup', ''],
  ['export', 'Cannot export: it was ended by SIGHUP, and is not complete\n'],
] as const) {
  test(`${command}: a signal that ends it leaves nothing behind [E6]`, async () => {
    const path = await newDatabase();
    fill(path, 300_000);
    const copy = newPath('copy');
    // The signal comes when the file of the copy has been made. A thread that makes one may be late.
    const interrupt = `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { open, openSync } = fs;
      const interrupt = (path) => String(path).endsWith('.partial') && process.kill(process.pid, 'SIGHUP');
      fs.openSync = (path, ...rest) => {
        const opened = openSync(path, ...rest);
        interrupt(path);
        return opened;
      };
      fs.open = (path, ...rest) => {
        if (interrupt(path)) process.once('exit', () => openSync(path, ...rest.slice(0, -1)));
        else open(path, ...rest);
      };
      syncBuiltinESMExports();`;
    const child = start([command, copy, '--database', `sqlite:${path}`], preloading(interrupt));
    assert.deepEqual(await endOf(child), { end: 129, said });
    assert.deepEqual(readdirSync(dirname(copy)), []);
  });
}

for (const [name, { make, makeMigrated }] of Object.entries(engines)) {
  test(`${name}: a signal that comes when a backup, an export or an import is done ends nothing`, async () => {
    const database = await makeMigrated();
    // One that the command's work meets, and others for as long as its process is there after it.
    const interrupt = `import { spawn } from 'node:child_process';
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      process.once('exit', () => spawn('sh', ['-c', 'while kill -INT ' + process.pid + ' && sleep 0.001; do :; done']));
      const { renameSync } = fs;
      const { write } = process.stdout;
      const interrupt = () => {
        process.kill(process.pid, 'SIGTERM');
        setTimeout(() => {}, 100);
      };
      fs.renameSync = (from, to) => {
        renameSync(from, to);
        if (from.endsWith('.partial')) interrupt();
      };
      process.stdout.write = (text, ...rest) => {
        if (/"sha256"|^Imported/.test(text)) interrupt();
        return write.call(process.stdout, text, ...rest);
      };
      syncBuiltinESMExports();`;
    const env = preloading(interrupt);
    const [copy, exported] = [newPath('copy'), newPath('exported')];
    assert.match(await printed(database, ['backup', copy], { env }), /, checked\n$/);
    assert.match(await printed(database, ['export', exported], { env }), /, highest id given out 0\n$/);
    const input = await printed(database, ['export'], { env });
    assert.match(input, /\{"sha256":"\w+"\}\n$/);
    assert.match(await printed(await make(), ['import', '-'], { env, input }), /^Imported into /);
    assert.deepEqual([readdirSync(dirname(copy)), readdirSync(dirname(exported))], [['copy'], ['exported']]);
  });
}

test('serve --no-migrate refuses an older schema with 69 and names the command; after it, it serves', async () => {
  const database = await server.makeDatabase();
  const { schemaVersion } = engines.PostgreSQL;
  await assert.rejects(
    serve(database, { args: ['--no-migrate'] }),
    new RegExp(
      `code 69[^]*its schema must be version ${schemaVersion}, received 0: run "todo-service migrate" first\n`,
    ),
  );
  // Nothing had been made.
  assert.match(await printed(database, ['migrate']), / from version 0 to /);
  await using _service = await serve(database, { args: ['--no-migrate'] });
});

test('an instance that may not migrate goes on, and starts again, after a migration that names its program', async () => {
  const database = await server.makeMigrated();
  const running = { args: ['--no-migrate'] };
  await using old = await serve(database, running);
  await printed(database, ['migrate'], NEXT_FOR_BOTH);
  await old.post({ title: 'by the one that went on' });
  await using again = await serve(database, running);
  await again.post({ title: 'by the one that started again' });
  await using rolledOut = await serve(database, { ...running, ...NEXT_FOR_BOTH });
  for (const service of [old, again, rolledOut])
    assert.deepEqual(await service.titles(), ['by the one that went on', 'by the one that started again']);
});

test('a backup of PostgreSQL is an export, complete or not there, and never replaces what is there [E6]', async () => {
  const database = await server.makeMigrated();
  const copy = newPath('copy.jsonl');
  const said = `${copy}: todos 0, categories 2, keys of creates 0, highest id given out 0, checked\n`;
  assert.equal(await printed(database, ['backup', copy]), said);
  assert.deepEqual(readdirSync(dirname(copy)), ['copy.jsonl']);
  assert.equal(((await stat(copy)).mode & 0o777).toString(8), '600');
  const stderr = `Cannot back up: "${copy}": there is something of this name already\n`;
  await refused(database, ['backup', copy], { code: 74, stderr });
  const target = await engines.SQLite.make();
  await printed(target, ['import', copy]);
  assert.equal(await printed(target, ['export']), await printed(database, ['export']));
});

test('a backup and an export name what other runs have not finished, with its age, and remove only their own [E6]', async () => {
  const database = await engines.SQLite.makeMigrated();
  for (const command of ['backup', 'export']) {
    const file = newPath('copy');
    const other = `${file}.0123456789ab.partial`;
    await writeFile(other, 'of another run');
    await writeFile(`${file}.other.0123456789ab.partial`, 'of another file');
    const hoursAgo = Date.now() / 1_000 - 3 * 3_600;
    await utimes(other, hoursAgo, hoursAgo);
    const { code, stderr } = await run(database, [command, file]);
    assert.deepEqual(
      { code, stderr },
      { code: 0, stderr: `Not finished, and last written 3 hours ago: ${other}\n` },
    );
    assert.deepEqual(readdirSync(dirname(file)).sort(), [
      'copy',
      'copy.0123456789ab.partial',
      'copy.other.0123456789ab.partial',
    ]);
  }
});

test('a user who may not write gets one line that grants the right, and 69', async () => {
  const database = await server.makeMigrated();
  const { role, url } = await server.makeRole(database);
  await server.execute(database, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
  await printed(url, ['categories', 'list']);
  for (const [right, action, ...words] of [
    ['INSERT', 'add', 'Garden'],
    ['UPDATE', 'rename', '1', 'Home'],
  ] as const) {
    const grant = `GRANT ${right} ON categories TO ${role}`;
    const fault = `permission denied for table categories: its role lacks rights: ${grant}`;
    const stderr = `Cannot ${action} the category: ${fault}\n`;
    await refused(url, ['categories', action, ...words], { code: 69, stderr });
    await server.execute(database, grant);
    await printed(url, ['categories', action, ...words]);
  }
});

test('a server that is not there is one line and 69, without the password [D9]', async () => {
  const env = { TODO_DATABASE: `postgres://todo:${PASSWORD}@127.0.0.1:1/todos` };
  for (const words of [['migrate'], ['check']]) {
    const { code, stderr } = await runCommand(words, { env });
    assert.equal(code, 69);
    assert.match(stderr, /^Cannot [^\n]*"postgres:\/\/127\.0\.0\.1:1\/todos": connect ECONNREFUSED[^\n]*\n$/);
    assert.ok(!stderr.includes(PASSWORD));
  }
});

/** Commands that read or make a list, on PostgreSQL. */
const commands = (): readonly (readonly string[])[] => [
  ['migrate'],
  ['check'],
  ['categories', 'list'],
  ['export', newPath()],
  ['backup', newPath()],
  ['import', newPath()],
];

test('a role that searches another schema: 78 that names both, and nothing is made until that is wanted [D20]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await using service = await serve(url);
  await service.post();
  await server.execute(url, `CREATE SCHEMA app`);
  for (const kind of ['TABLE todos', 'TABLE categories', 'TABLE todo_schema'])
    await server.execute(url, `ALTER ${kind} SET SCHEMA app`);
  const fault = `its search path \\("\\$user", public\\) finds no list, and the schema app has one: ALTER ROLE ${owner} SET search_path = app; or "todo-service migrate --another-list" makes a second one`;
  for (const words of commands())
    await refused(url, words, { code: 78, stderr: new RegExp(`^Cannot [^\n]*: ${fault}\n$`) });
  for (const args of [[], ['--no-migrate']])
    await assert.rejects(serve(url, { args }), new RegExp(`code 78[^]*: ${fault}\n`));
  assert.deepEqual(await server.execute(url, "SELECT to_regclass('public.todos') AS made"), [{ made: null }]);
});

test('migrate --another-list makes a second list, once, and is for PostgreSQL [D20]', async () => {
  const database = await server.makeMigrated();
  await server.execute(database, 'ALTER SCHEMA public RENAME TO app; CREATE SCHEMA public');
  const version = engines.PostgreSQL.schemaVersion;
  const another = ['migrate', '--another-list'];
  assert.match(await printed(database, another), new RegExp(` from version 0 to ${version}\\.\n$`));
  assert.match(await printed(database, another), /was at version \d+ already\.\n$/);
  await using service = await serve(database);
  assert.deepEqual(await service.list(), []);
  const { code, stderr } = await run(await engines.SQLite.make(), another);
  assert.deepEqual(
    { code, stderr: stderr.split('\n')[0] },
    { code: 2, stderr: '--another-list is for PostgreSQL: a SQLite file has one list' },
  );
});

test('row security: 503 without Retry-After, one event; check says FAULT, no command ends with less than all [D11]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await using service = await serve(url, { env: { TODO_ADMIN_PORT: '0' } });
  await service.post();
  await service.list();
  await server.execute(url, 'ALTER TABLE todos ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY');
  const fault = `row security would hide rows of "todos" from the role ${owner}: ALTER TABLE todos DISABLE ROW LEVEL SECURITY; or ALTER ROLE ${owner} BYPASSRLS`;
  for (const [method, path] of [
    ['GET', '/todos'],
    ['GET', '/todos/1'],
    ['DELETE', '/todos/1'],
  ] as const) {
    const reply = await service.ask(method, path);
    assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, null]);
  }
  assert.ok((await service.readyWith(503)).detail?.includes(fault));
  const { code, stdout } = await run(url, ['check']);
  assert.equal(code, 1);
  assert.ok(stdout.endsWith(`\nFAULT  ${fault}\n`), stdout);
  for (const words of commands().filter(([name]) => !['check', 'categories'].includes(name ?? ''))) {
    const { code, stdout, stderr } = await run(url, words);
    assert.deepEqual({ words, code, stdout }, { words, code: 69, stdout: '' });
    assert.ok(stderr.endsWith(`: ${fault}\n`), stderr);
    if (words[1] !== undefined) assert.deepEqual(readdirSync(dirname(words[1])), []);
  }
  await assert.rejects(serve(url), /code 69.*row security would hide rows/s);
  await server.execute(url, 'ALTER TABLE todos DISABLE ROW LEVEL SECURITY');
  await service.readyWith(200);
  assert.deepEqual(
    service.log('schema-broken', 'schema-mended').map(({ reason }) => reason),
    [fault, undefined],
  );
  assert.equal((await service.list()).length, 1);
});
