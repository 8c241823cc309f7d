import { cp, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './folder.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** What is read where it stands: a link would lead back to this checkout. */
const COPIED = ['src', 'test'];

/** What parts of the checks install and make beside tests of theirs: no test of the copy needs it. */
const filter = (path: string): boolean => !/\/(?:made|node_modules)$/.test(path);

/**
 * A checkout of this program in which each engine has one migration more: the next version.
 *
 * @param head Comes before the SQL of the migration. Takes the version of this program's schema.
 */
export async function nextCheckout(head: (version: number) => string = () => '') {
  const folder = await temporaryFolder();
  for (const name of await readdir(project)) {
    if (COPIED.includes(name))
      await cp(join(project, name), join(folder.path, name), { recursive: true, filter });
    else await symlink(join(project, name), join(folder.path, name));
  }
  for (const engine of ['sqlite', 'postgres']) {
    const migrations = join(folder.path, 'src/storage', engine, 'migrations');
    const version = (await readdir(migrations)).length;
    const file = `${String(version + 1).padStart(4, '0')}-next.sql`;
    // Of a name of its own: the checkout may be the next one of another.
    await writeFile(
      join(migrations, file),
      `${head(version)}ALTER TABLE todos ADD COLUMN next_${version + 1} text;\n`,
    );
  }
  return folder;
}
