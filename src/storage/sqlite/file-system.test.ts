import assert from 'node:assert/strict';
import { statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { compileDisk, noDisk, runOnDisk } from '../../../test/storage/disk.ts';
import { newPath } from '../../../test/storage/new-files.ts';
import { bindMount, mountDisk, noMounts } from '../../../test/support/folder.ts';
import { isMountedAlone, UNCERTAIN, uncertainLocksOf } from './file-system.ts';

// The numbers of Linux, include/uapi/linux/magic.h and fs/smb/common/smb2pdu.h.
for (const [type, name] of [
  [0x00006969, 'NFS'],
  [0x0000517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE or virtiofs'],
  [0x01021997, '9p'],
  [0x0000ef53, undefined], // ext4
  [0x58465342, undefined], // XFS
  [0x9123683e, undefined], // Btrfs
  [0x2fc12fc1, undefined], // ZFS
  [0x01021994, undefined], // tmpfs
  [0x794c7630, undefined], // overlayfs
  [0x0000001a, undefined], // APFS, as macOS counts
] as const) {
  test(`on the file system 0x${type.toString(16)}, ${name ?? 'none of these'}, locks ${name === undefined ? 'hold' : 'may not hold'} [D21]`, () => {
    assert.equal(UNCERTAIN.get(type), name);
  });
}

test('a file is looked at with its folder, on Linux alone; one that is not there has no name [D21]', () => {
  assert.equal(uncertainLocksOf(tmpdir()), UNCERTAIN.get(statfsSync(tmpdir()).type));
  assert.equal(uncertainLocksOf(join(tmpdir(), 'no', 'file')), undefined);
  assert.equal(uncertainLocksOf('\0', 'darwin'), undefined);
});

test('a file that is itself a mount point is mounted alone, one in a mounted folder is not [D6]', {
  skip: noMounts(),
}, () => {
  const [file, mounted, link, disk] = [newPath(), newPath(), newPath('link.db'), newPath('disk')];
  for (const each of [file, mounted]) writeFileSync(each, '');
  symlinkSync(mounted, link);
  using _file = bindMount(file, mounted);
  using _folder = mountDisk(disk, '64k');
  writeFileSync(join(disk, 'todos.db'), '');
  const paths = [file, mounted, link, join(disk, 'todos.db'), newPath('none')];
  assert.deepEqual(
    paths.map((path) => isMountedAlone(path)),
    [false, true, true, false, false],
  );
  assert.equal(isMountedAlone(mounted, 'darwin'), false);
});

test('a file that is on a network, or whose folder is, has its name [D21]', { skip: noDisk() }, async () => {
  const [path, other] = [newPath(), newPath()];
  const library = await compileDisk(dirname(other));
  const namesOn = (folder: string) =>
    runOnDisk(
      { ...library, DISK_FOLDER: folder, DISK_TYPE: '0x6969' },
      `import { writeFileSync } from 'node:fs';
      import { uncertainLocksOf } from '${new URL('./file-system.ts', import.meta.url)}';
      for (const path of ['${path}', '${other}']) writeFileSync(path, '');
      console.log(uncertainLocksOf('${path}'), uncertainLocksOf('${path}', 'darwin'), uncertainLocksOf('${other}'));`,
    );
  for (const folder of [path, dirname(path)]) assert.equal(namesOn(folder), 'NFS undefined undefined');
});
