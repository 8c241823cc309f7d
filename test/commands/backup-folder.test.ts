import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fill, newDatabase, newPath } from '../storage/new-files.ts';
import { mountDisk, noMounts } from '../support/folder.ts';
import { preloading } from '../support/start.ts';
import { engines, printed, refused, run } from './engines.ts';

const ENDINGS = { SQLite: 'db', PostgreSQL: 'jsonl' } as const;
const DAY_MS = 24 * 3_600_000;

/** Names of copies of so many days, the oldest first. */
const daysOf = (ending: string, days: number) =>
  Array.from({ length: days }, (_, day) => `todos-202001${day + 10}T235959Z.${ending}`);

/** A folder with such files, each of which has its name in it. */
function folderOf(names: readonly string[] = []): string {
  const folder = newPath('copies');
  mkdirSync(folder);
  for (const name of names) writeFileSync(join(folder, name), name);
  return folder;
}

const inside = (folder: string) => readdirSync(folder).sort();

/** The names of what was made in a folder, and is no empty file. */
const madeIn = (folder: string, before: readonly string[] = []) =>
  inside(folder).filter((name) => !before.includes(name) && statSync(join(folder, name)).size > 0);

/** The program's clock stands still at a moment. */
const clockAt = (time: string) =>
  preloading(`const now = Date.parse('${time}');
    Date.now = () => now;
    globalThis.Date = class extends Date { constructor(...parts) { super(...(parts.length ? parts : [now])); } };`);

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

for (const [name, { makeMigrated }] of Object.entries(engines)) {
  const ending = ENDINGS[name as keyof typeof ENDINGS];
  const other = ending === 'db' ? 'jsonl' : 'db';

  for (const [what, slash, words] of [
    ['with a final slash', '/', []],
    ['with a final slash and --keep', '/', ['--keep', '3']],
    ['without one, but with --keep', '', ['--keep', '3']],
  ] as const)
    test(`${name}: a missing folder ${what} is made, for its owner alone, and has a copy that can be restored [E7]`, async () => {
      const database = await makeMigrated();
      const folder = newPath('some/copies');
      const began = Date.now();
      const said = await printed(database, ['backup', folder + slash, ...words]);
      const [made = '', ...more] = inside(folder);
      assert.deepEqual(more, []);
      assert.ok(said.startsWith(`${join(folder, made)}: `) && said.endsWith(', checked\n'), said);
      const [, ...parts] = /^todos-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.(\w+)$/.exec(made) ?? [];
      const [year, month, day, hour, minute, second, kind] = parts;
      assert.equal(kind, ending);
      const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
      assert.ok(at > began - 1_000 && at <= Date.now(), made);
      const modes = [dirname(folder), folder, join(folder, made)].map(modeOf);
      assert.deepEqual(modes, ['700', '700', '600']);
      const target = await engines.SQLite.make();
      await printed(target, ['restore', join(folder, made)]);
      assert.equal(await printed(target, ['export']), await printed(database, ['export']));
    });

  test(`${name}: --keep leaves the newest of this ending, with the one that was made, and all other files [E7]`, async () => {
    const database = await makeMigrated();
    const own = daysOf(ending, 5);
    const foreign = [
      ...daysOf(other, 5),
      ...['todos.db', 'todos.jsonl', `todos-2019.${ending}.bak`, `todos-before-upgrade.${ending}`],
      ...[
        `todos-20190101T000000.${ending}`,
        `todos-20190101T000000Z.${ending}\n`,
        `Todos-20190101T000000Z.${ending}`,
      ],
      ...[
        `todos-20190101t000000z.${ending}`,
        `todos-20190101T0000000Z.${ending}`,
        `todos-2019-01-01.${ending}`,
      ],
      ...[
        `todos-20190101T000000Z.${ending}.gz`,
        `todos-20190101T000000Z.${ending}-wal`,
        `x-todos-20190101T000000Z.${ending}`,
      ],
      ...[`todos-٢٠١٩٠١٠١T٠٠٠٠٠٠Z.${ending}`, `todos-20190101T000000Z.${ending.toUpperCase()}`],
    ];
    const folder = folderOf([...own, ...foreign]);
    const [directory, link] = [`todos-20180101T000000Z.${ending}`, `todos-20180102T000000Z.${ending}`];
    mkdirSync(join(folder, directory));
    symlinkSync(join(folder, own[0] ?? ''), join(folder, link));
    const before = inside(folder);
    await printed(database, ['backup', folder, '--keep', '3']);
    const gone = before.filter((each) => !inside(folder).includes(each));
    assert.deepEqual(gone, own.slice(0, 3));
    assert.equal(inside(folder).length, before.length - 2);
    for (const each of [...own.slice(3), ...foreign])
      assert.equal(readFileSync(join(folder, each), 'utf8'), each);
  });

  test(`${name}: without --keep a folder that is there, or a link to one, has one more, and nothing is removed [E7]`, async () => {
    const database = await makeMigrated();
    const before = daysOf(ending, 40);
    const folder = folderOf(before);
    await printed(database, ['backup', folder]);
    assert.deepEqual(inside(folder).slice(0, -1), before.sort());
    const link = newPath('link');
    symlinkSync(folder, link);
    assert.match(await printed(database, ['backup', link, '--keep', '1']), /\/link\/todos-\w+\.\w+: /);
    assert.equal(inside(folder).length, 1);
  });

  for (const [what, now, kept] of [
    ['a copy that is newer than now', new Date().toISOString(), 'todos-20990101T000000Z'],
    ['a clock that went back', '2019-12-31T23:59:59.999Z', 'todos-20200114T235959Z'],
  ] as const)
    test(`${name}: after ${what} none is removed, not the one that was made either: 1 [E7]`, async () => {
      const database = await makeMigrated();
      const before = [...daysOf(ending, 5), ...(kept.includes('2099') ? [`${kept}.${ending}`] : [])];
      const folder = folderOf(before);
      const words = ['backup', folder, '--keep', '2'];
      const { code, stdout, stderr } = await run(database, words, { env: clockAt(now) });
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `No older copy is removed: ${join(folder, kept)}.${ending} is newer than now. Set the clock, or remove that file\n`,
      );
      assert.match(stdout, /, checked\n$/);
      const made = basename(stdout.split(': ')[0] ?? '');
      assert.deepEqual(inside(folder), [...before, made].sort());
      assert.ok(made.startsWith(`todos-${now.replaceAll(/[-:]|\..*/g, '')}`), made);
    });

  test(`${name}: two runs in the same second, one after the other or at once, each have a copy [E7]`, async () => {
    const database = await makeMigrated();
    const folder = folderOf();
    const env = clockAt('2026-11-25T21:00:00Z');
    const backUp = () => printed(database, ['backup', folder, '--keep', '9'], { env });
    await backUp();
    // Each waits for as long as its name is taken, and the clock stands still.
    const said = new Set(await Promise.all([backUp(), backUp()]));
    assert.equal(said.size, 2);
    const names = ['0', '1', '2'].map((second) => `todos-20261125T21000${second}Z.${ending}`);
    assert.deepEqual(madeIn(folder), names);
  });

  test(`${name}: in a folder, what runs have left of this ending is removed after a day, what is younger is named [E6]`, async () => {
    const database = await makeMigrated();
    const [old, young] = ['todos-20200101T000000Z', 'todos-20200102T000000Z'];
    const left = '0123456789ab.partial';
    const names = [
      ...[`${old}.${ending}.${left}`, `${old}.${ending}.${left}-wal`, `${old}.${ending}.${left}-shm`],
      ...[`${young}.${ending}.${left}`, `${young}.${ending}.${left}-wal`, `${old}.${other}.${left}`],
      ...[`mine.${ending}.${left}`, `${old}.${ending}.partial`, `${old}.${ending}.mine`],
    ];
    const folder = folderOf(names);
    // Where a run has ended between the two steps by which a copy gets its name, its name has nothing yet.
    for (const name of [old, young]) writeFileSync(join(folder, `${name}.${ending}`), '');
    mkdirSync(join(folder, `todos-20200103T000000Z.${ending}.${left}`));
    for (const name of inside(folder)) {
      const at = (Date.now() - DAY_MS + (name.startsWith(young) ? 60_000 : -60_000)) / 1_000;
      utimesSync(join(folder, name), at, at);
    }
    const before = inside(folder);
    const { code, stderr } = await run(database, ['backup', folder, '--keep', '1']);
    const named = join(folder, `${young}.${ending}.${left}`);
    assert.deepEqual(
      { code, stderr },
      { code: 0, stderr: `Not finished, and last written 23 hours ago: ${named}\n` },
    );
    const gone = before.filter((each) => !inside(folder).includes(each));
    assert.deepEqual(gone, [`${old}.${ending}`, ...names.slice(0, 3)].sort());
  });

  test(`${name}: a run that is killed at any moment leaves the copies that were there, and the next one is as if it were the first [E7]`, async () => {
    const database = await makeMigrated();
    const before = daysOf(ending, 3);
    for (let call = 1, isOver = false; !isOver; call += 1) {
      assert.ok(call < 30);
      const folder = folderOf(before);
      // Before what changes a folder or a file, for the nth time.
      const killed = preloading(`import fs from 'node:fs';
        import { syncBuiltinESMExports } from 'node:module';
        let left = ${call};
        for (const name of ['mkdirSync', 'openSync', 'renameSync', 'rmSync']) {
          const original = fs[name];
          fs[name] = (...words) => {
            const isOurs = String(words[0]).includes(${JSON.stringify(folder)});
            if (isOurs && (left -= 1) === 0) process.kill(process.pid, 'SIGKILL');
            return original(...words);
          };
        }
        syncBuiltinESMExports();`);
      const { code } = await run(database, ['backup', folder, '--keep', '3'], { env: killed });
      isOver = code === 0;
      const made = madeIn(folder, before).filter((each) => !each.includes('.partial'));
      // The oldest goes when the new one is there.
      const stay = before.filter((each) => inside(folder).includes(each));
      assert.deepEqual(stay, made.length === 0 ? before : before.slice(-stay.length));
      assert.ok(stay.length >= 2);
      await run(database, ['backup', folder, '--keep', '3']);
      const copies = madeIn(folder).filter((each) => !each.includes('.partial'));
      assert.deepEqual(copies.slice(0, -1 - made.length), before.slice(1 + made.length));
      assert.equal(copies.length, 3);
    }
  });

  test(`${name}: a signal that ends a run leaves the copies that were there, and nothing else [E6]`, async () => {
    const database = await makeMigrated();
    const before = daysOf(ending, 3);
    const folder = folderOf(before);
    const interrupt = preloading(`import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { openSync } = fs;
      fs.openSync = (path, ...rest) => {
        if (String(path).endsWith('.partial')) {
          process.kill(process.pid, 'SIGTERM');
          // The signal is there before a small copy can be done.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
        }
        return openSync(path, ...rest);
      };
      syncBuiltinESMExports();`);
    const { code } = await run(database, ['backup', folder, '--keep', '1'], { env: interrupt });
    assert.equal(code, 143);
    assert.deepEqual(inside(folder), before);
    const made = newPath('some/copies');
    assert.equal((await run(database, ['backup', `${made}/`], { env: interrupt })).code, 143);
    assert.deepEqual(inside(dirname(dirname(made))), []);
  });

  test(`${name}: what cannot be removed is said, the copy is made and the others go: 1 [E7]`, async () => {
    const database = await makeMigrated();
    const before = daysOf(ending, 4);
    const folder = folderOf(before);
    const env = preloading(`import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { rmSync } = fs;
      fs.rmSync = (path, ...rest) => {
        if (path.endsWith(${JSON.stringify(before[0])})) throw new Error('EPERM: operation not permitted');
        rmSync(path, ...rest);
      };
      syncBuiltinESMExports();`);
    const { code, stdout, stderr } = await run(database, ['backup', folder, '--keep', '1'], { env });
    assert.match(stdout, /, checked\n$/);
    const said = `Cannot remove ${join(folder, before[0] ?? '')}: EPERM: operation not permitted\n`;
    assert.deepEqual({ code, stderr }, { code: 1, stderr: said });
    assert.deepEqual(inside(folder).slice(0, -1), before.slice(0, 1));
  });
}

test('what makes no copy removes none, and leaves no folder: a damaged database, one that is away, one that another has [E7]', async () => {
  const before = [...daysOf('db', 5), ...daysOf('jsonl', 5)].sort();
  const folder = folderOf(before);
  const damaged = await newDatabase();
  fill(damaged, 2_000);
  const bytes = readFileSync(damaged);
  writeFileSync(damaged, bytes.fill(0xa5, 5 * 4_096, 6 * 4_096));
  const foreign = newPath();
  writeFileSync(foreign, 'Dear reader, this is not a database.\n'.repeat(100));
  for (const [database, code] of [
    [`sqlite:${damaged}`, 65],
    [`sqlite:${foreign}`, 65],
    [`sqlite:${newPath()}`, 69],
    ['postgres://todo@127.0.0.1:1/todos', 69],
  ] as const) {
    await refused(database, ['backup', folder, '--keep', '1'], { code, stderr: /^Cannot back up: / });
    assert.deepEqual(inside(folder), before);
    const missing = newPath('some/copies');
    await refused(database, ['backup', `${missing}/`], { code, stderr: /^Cannot back up: / });
    assert.deepEqual(inside(dirname(dirname(missing))), []);
  }
});

test('what is no folder, or takes no file, is one line and 74 [E7]', async () => {
  const database = await engines.SQLite.makeMigrated();
  const file = newPath('file');
  writeFileSync(file, 'precious');
  for (const folder of [file, `${file}/`, join(file, 'below'), '/proc/copies', newPath('x'.repeat(256))])
    await refused(database, ['backup', folder, '--keep', '1'], {
      code: 74,
      stderr: /^Cannot back up: E[A-Z]+: [^\n]*\n$/,
    });
  assert.equal(readFileSync(file, 'utf8'), 'precious');
});

test('on a full disk no copy is removed, and nothing is left behind: 74 [E7]', {
  skip: noMounts(),
}, async () => {
  const path = await newDatabase();
  fill(path, 2_000);
  const folder = newPath('disk');
  using _disk = mountDisk(folder, '256k');
  const before = daysOf('db', 3);
  for (const name of before) writeFileSync(join(folder, name), name);
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc((bavail - 4) * bsize));
  const stderr = /^Cannot back up: "[^\n]*": (?:database or disk is full|ENOSPC[^\n]*)\n$/;
  await refused(`sqlite:${path}`, ['backup', folder, '--keep', '1'], { code: 74, stderr });
  assert.deepEqual(inside(folder), ['filler', ...before]);
  rmSync(join(folder, 'filler'));
  await printed(`sqlite:${path}`, ['backup', folder, '--keep', '1']);
  assert.equal(inside(folder).length, 1);
});

test('the database itself stays, where it has the name of a copy [E7]', async () => {
  const folder = folderOf();
  const [own = '', ...others] = daysOf('db', 3);
  cpSync(await newDatabase(), join(folder, own));
  for (const name of others) writeFileSync(join(folder, name), name);
  await printed(`sqlite:${join(folder, own)}`, ['backup', folder, '--keep', '1']);
  assert.deepEqual(inside(folder).slice(0, -1), [own]);
});
