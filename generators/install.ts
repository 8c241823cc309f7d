/**
 * Installs the generators, on their first use and whenever their lock file has changed. No package of it runs a
 * script at installation.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const age = (path: string) =>
  statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (age('node_modules/.package-lock.json') < age('package-lock.json')) {
  process.stderr.write('Installing the generators into generators/node_modules …\n');
  const { status, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
}
