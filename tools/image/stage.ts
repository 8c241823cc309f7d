import { chmodSync, globSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { outputOf } from '../command.ts';
import { copy, write } from '../files.ts';

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

/** A shared library, and the license of the package that it comes from. */
interface Library {
  /** Where the loader of this machine finds it. */
  readonly path: string;
  readonly copyright: string;
}

/**
 * The libraries that an executable loads, the loader among them.
 *
 * @throws Error when one is missing, or belongs to no package of Debian or its kin.
 */
function librariesOf(executable: string): readonly Library[] {
  const listed = outputOf('ldd', executable);
  if (listed === undefined || listed.includes('not found')) {
    throw new Error(`Cannot find the libraries of ${executable}:\n${listed ?? 'ldd failed'}`);
  }
  const paths = Array.from(listed.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => path);
  return paths.sort().map((path) => ({ path, copyright: copyrightOf(path) }));
}

function copyrightOf(path: string): string {
  // The database of dpkg has the path from before /lib became a link to /usr/lib, or the one after.
  const real = realpathSync(path);
  const names = [path, real, real.replace(/^\/usr/, ''), `/usr${path}`];
  const owner = names.map((name) => outputOf('dpkg', '-S', name)).find((line) => line !== undefined);
  const [copyright] = globSync(`/usr/share/doc/${owner?.split(':')[0]}/copyright`);
  if (copyright === undefined) {
    throw new Error(`Cannot find the license of ${basename(path)}: the image is built on Debian or its kin`);
  }
  return copyright;
}
