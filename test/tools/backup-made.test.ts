import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { instanceUnitOf } from '../../tools/debian/instances.ts';
import { project } from '../package/npm.ts';
import { closedToOthers, temporaryFolder } from '../support/folder.ts';

const read = (path: string) => readFile(join(project, path), 'utf8');
const service = await read('deploy/todo-service.service');

/** Root alone may stop a unit. This names its programs and its unit, and reads nothing that the service has written. */
const CLOSES_SOCKET =
  "ExecStopPost=+/bin/sh -c 'case $$EXIT_STATUS in 2|65|78) exec systemctl --no-block stop todo-service.socket; esac'";

/** A user whom nobody else is. */
const STRANGER = 54_321;

for (const [name, unit] of [
  ['todo-service.service', service],
  ['todo-service@.service', instanceUnitOf(service)],
  ['todo-service-backup.service', await read('deploy/debian/todo-service-backup.service')],
] as const) {
  test(`all that ${name} starts runs as todo-service, in its sandbox, but what closes its socket`, () => {
    assert.match(unit, /^User=todo-service$/m);
    // A "+", "!" or "!!" in front of a command line takes that back, beside "-", "@" and ":".
    const others = unit.replace(CLOSES_SOCKET, '');
    assert.deepEqual(others.match(/^Exec\w+=[-@:]*[+!].*$/gm), null);
    assert.doesNotMatch(unit, /^PermissionsStartOnly=/m);
  });
}

/** Runs the script in a folder that is its user's, or this process's without one. */
async function backupMade(folder: string, uid = process.getuid?.()) {
  const script = (await read('deploy/debian/backup-made')).replace('/var/lib/todo-service-metrics', '.');
  return await promisify(execFile)('sh', ['-c', script], { cwd: folder, uid }).then(
    () => 0,
    ({ code }) => code,
  );
}

test('a backup is told in a file that everybody reads, and that a newer one replaces', async () => {
  await using folder = await temporaryFolder();
  await folder.write('todo-service-backup.prom', 'older');
  assert.equal(await backupMade(folder.path), 0);
  assert.deepEqual(await readdir(folder.path), ['todo-service-backup.prom']);
  const file = join(folder.path, 'todo-service-backup.prom');
  assert.match(await readFile(file, 'utf8'), /^todo_backup_last_success_timestamp_seconds \d{10}\n$/m);
  assert.equal((await stat(file)).mode & 0o777, 0o644);
});

test('links in its folder lead it to no file of another user', {
  skip: process.getuid?.() === 0 ? closedToOthers() : 'needs root: runs as another user',
}, async () => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  const file = await folder.write('of-root', 'as it was');
  const metrics = join(folder.path, 'metrics');
  await mkdir(metrics);
  await chown(metrics, STRANGER, STRANGER);
  await symlink(file, join(metrics, 'todo-service-backup.new'));
  assert.notEqual(await backupMade(metrics, STRANGER), 0);
  await rm(join(metrics, 'todo-service-backup.new'));
  await symlink(file, join(metrics, 'todo-service-backup.prom'));
  assert.equal(await backupMade(metrics, STRANGER), 0);
  assert.equal(await readFile(file, 'utf8'), 'as it was');
});
