import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { UNCERTAIN, uncertainLocksOf } from './file-system.ts';

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
