import { chmodSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { copy, write } from '../files.ts';
import { librariesOf } from './libraries.ts';

const USERS = `root:x:0:0:root:/:/sbin/nologin
todo:x:10001:0:Todo Service:/data:/sbin/nologin
`;
const GROUPS = `root:x:0:
`;
/** Addresses of other machines: files first, then DNS. */
const NAMES = `hosts: files dns
`;

/** Lays out the files of the image in `root`. The executable and its licenses are in `build`. */
export function stage(build: string, root: string): void {
  process.umask(0o022);
  const documents = 'usr/share/doc/todo-service';
  const executable = join(build, 'todo-service');
  copy(executable, join(root, 'usr/bin/todo-service'));
  copy(join(build, 'LICENSES.txt'), join(root, documents, 'LICENSES.txt'));
  for (const { path, copyright } of librariesOf(executable)) {
    copy(path, join(root, path));
    copy(copyright, join(root, 'usr/share/doc', basename(dirname(copyright)), 'copyright'));
  }
  // Those that Node.js brings, and not this machine's: its owner may trust others.
  write(join(root, 'etc/ssl/certs/ca-certificates.crt'), `${getCACertificates('bundled').join('\n')}\n`);
  write(join(root, 'etc/passwd'), USERS);
  write(join(root, 'etc/group'), GROUPS);
  write(join(root, 'etc/nsswitch.conf'), NAMES);
  // SQLite sorts what memory does not hold in a file there.
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
}
