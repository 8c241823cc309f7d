/**
 * `tools/runtime/node tools/coverage.ts [--hold]`: how much of `src/` the processes run that `npm test` starts, and those that
 * they start. A process that is killed counts for nothing. A test that fails leaves no figure. With `--hold`, less than
 * `LEAST` is a failure too, where no test was skipped. Nothing is written into the checkout.
 */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Percent. */
const LEAST = { lines: 98, branches: 96 };

const { hold } = parseArgs({ options: { hold: { type: 'boolean', default: false } } }).values;
const folder = mkdtempSync(join(tmpdir(), 'todo-coverage-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const leftOut = join(folder, 'left-out');
writeFileSync(leftOut, '');

/** Gives the exit code; standard input is none. */
function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): number {
  const { status } = spawnSync(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status ?? 1;
}

// Tests run programs as other users.
const coverage = join(folder, 'coverage');
for (const path of [folder, mkdirSync(coverage, { recursive: true }) ?? coverage]) chmodSync(path, 0o1777);
// Code of the cache is counted by function alone.
const tested = run('npm', ['test'], {
  LEFT_OUT: leftOut,
  NODE_DISABLE_COMPILE_CACHE: '1',
  NODE_V8_COVERAGE: coverage,
});
if (tested !== 0) process.stderr.write('There is no figure: a test failed.\n');
process.exitCode = tested || report();

function report(): number {
  const skipped = readFileSync(leftOut, 'utf8');
  if (process.env.LEFT_OUT !== undefined) appendFileSync(process.env.LEFT_OUT, skipped);
  if (hold && skipped !== '') process.stdout.write(`The coverage is not held:\n${skipped}`);
  const thresholds = Object.entries(LEAST).map(([what, least]) => `--${what}=${least}`);
  const checks = hold && skipped === '' ? ['--check-coverage', '--statements=0', ...thresholds] : [];
  const files = ['--all', '--src=src', '--include=src/**', '--exclude=src/**/*.test.ts'];
  const output = ['--reporter=text', '--reporter=text-summary', '--skip-full'];
  const where = ['--temp-directory', coverage, '--merge-async'];
  return run(process.execPath, [
    'node_modules/c8/bin/c8.js',
    'report',
    ...where,
    ...files,
    ...output,
    ...checks,
  ]);
}
