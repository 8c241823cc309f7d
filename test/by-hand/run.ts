import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { outputOf, run } from '../../tools/command.ts';
import manifest from './package.json' with { type: 'json' };

const HELP = `Usage: npm run by-hand [-- --newest]

The cases of "What is written by hand" in docs/decisions/README.md: each runs a library, in whose place code of ours is
there, on the input that speaks against it, and fails when the library does anything else.

Flags:
  --newest  Run them with the newest version of each library, in a copy of their own
  -h, --help
`;

const { values } = parseArgs({
  options: {
    newest: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else if (values.newest) runNewest('test/by-hand');
else runCases('test/by-hand');

function runCases(folder: string): void {
  try {
    run('tools/test', `${folder}/*.test.ts`);
  } catch {
    process.exitCode = 1;
  }
}

/** Runs the cases with the newest version of each library, in a folder of this run: npm may outlive one that was ended. */
function runNewest(folder: string): void {
  mkdirSync('build', { recursive: true });
  const copy = mkdtempSync('build/by-hand-');
  try {
    cpSync(folder, copy, { recursive: true, filter: (path) => !/node_modules|package-lock/.test(path) });
    installNewest(copy);
    runCases(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Installs the newest version of each library, and prints those that are newer. */
function installNewest(copy: string): void {
  const pinned = Object.entries(manifest.dependencies);
  const newest = pinned.map(([name]) => `${name}@latest`);
  run('npm', '--prefix', copy, 'install', '--ignore-scripts', '--no-fund', '--no-audit', ...newest);
  const { dependencies } = JSON.parse(outputOf('npm', '--prefix', copy, 'ls', '--json') ?? '{}');
  const newer = pinned.filter(([name, version]) => dependencies[name].version !== version);
  for (const [name, version] of newer)
    process.stdout.write(`${name} ${version} -> ${dependencies[name].version}\n`);
  process.stdout.write(`${newer.length} of ${pinned.length} libraries have a newer version\n`);
}
