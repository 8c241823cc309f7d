import fs, { readFileSync, renameSync, symlinkSync, utimesSync, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import lockfile from 'proper-lockfile';
import writeFileAtomic from 'write-file-atomic';
import { temporaryFolder } from '../../test/support/folder.ts';
import { endOf, holds } from './holds.ts';

describe('watching files', () => {
  holds(
    'fs.watch says nothing of a file that is replaced through a link',
    async () => {
      await using folder = await temporaryFolder();
      const at = (name: string) => join(folder.path, name);
      for (const name of ['old', 'new']) {
        await mkdir(at(name));
        await folder.write(`${name}/keys`, name);
      }
      symlinkSync('old', at('data'));
      symlinkSync('data/keys', at('keys'));
      const events: string[] = [];
      const watcher = watch(at('keys'), (event) => events.push(event));
      symlinkSync('new', at('data.next'));
      renameSync(at('data.next'), at('data'));
      await sleep(1_000);
      watcher.close();
      return { events, text: readFileSync(at('keys'), 'utf8') };
    },
    { events: [], text: 'new' },
  );
});

describe('the lock of the file', () => {
  holds(
    'proper-lockfile gives a lock away whose owner lives, but stood still for some seconds',
    async () => {
      await using folder = await temporaryFolder();
      const file = await folder.write('todos.db', '');
      const options = { stale: 5_000 };
      await lockfile.lock(file, options);
      // An owner that stands still does not touch its lock.
      const past = Date.now() / 1_000 - 6;
      utimesSync(`${file}.lock`, past, past);
      const release = await lockfile.lock(file, options);
      await release();
      return 'given away';
    },
    'given away',
  );
  holds(
    'proper-lockfile keeps everybody out after its owner was killed',
    async () => {
      await using folder = await temporaryFolder();
      const file = await folder.write('todos.db', '');
      await endOf(`
        import lockfile from 'proper-lockfile';
        await lockfile.lock(${JSON.stringify(file)});
        process.kill(process.pid, 'SIGKILL');`);
      return lockfile.lock(file).catch(({ code }) => code);
    },
    'ELOCKED',
  );
});

describe('durable files', () => {
  /** What a write to a file that is there calls, without its closes. */
  async function callsOf(): Promise<{ text: string; calls: string[] }> {
    await using folder = await temporaryFolder();
    const file = await folder.write('backup.db', 'old');
    const calls: string[] = [];
    const { openSync, fsyncSync, renameSync } = fs;
    const noted =
      <Arguments extends unknown[], Result>(name: string, call: (...args: Arguments) => Result) =>
      (...args: Arguments): Result => {
        calls.push(name);
        return call(...args);
      };
    Object.assign(fs, {
      openSync: noted('open', openSync),
      fsyncSync: noted('fsync', fsyncSync),
      renameSync: noted('rename', renameSync),
    });
    try {
      writeFileAtomic.sync(file, 'new');
    } finally {
      Object.assign(fs, { openSync, fsyncSync, renameSync });
    }
    return { text: readFileSync(file, 'utf8'), calls };
  }

  holds('write-file-atomic replaces a file that is there', async () => (await callsOf()).text, 'new');
  holds(
    'write-file-atomic syncs no folder behind its rename: a power cut takes the name',
    async () => (await callsOf()).calls,
    ['open', 'fsync', 'rename'],
  );
});

describe('writes that share a sync', () => {
  holds(
    'better-sqlite3 opens a database with WAL at synchronous=NORMAL',
    async () => {
      await using folder = await temporaryFolder();
      const file = join(folder.path, 'todos.db');
      new Database(file).exec('PRAGMA journal_mode = WAL; CREATE TABLE todos (id)').close();
      const database = new Database(file);
      database.prepare('SELECT * FROM todos').all();
      const level = database.pragma('synchronous', { simple: true });
      database.close();
      return level;
    },
    1,
  );
});
