/**
 * Installs what a folder with a lock file of its own needs, on its first use and whenever that file has changed. No package
 * of it runs a script at installation.
 */
import { statSync } from 'node:fs';
import { run } from './command.ts';

const [folder = ''] = process.argv.slice(2);
const age = (file: string) => statSync(`${folder}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (age('node_modules/.package-lock.json') < age('package-lock.json')) {
  process.stderr.write(`Installing the packages of ${folder}/ …\n`);
  run('npm', '--prefix', folder, 'ci', '--ignore-scripts', '--no-fund', '--no-audit');
}
