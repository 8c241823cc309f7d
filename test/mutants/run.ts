/**
 * `tools/runtime/node test/mutants/run.ts [<part>…]`: changes the source of a part in small ways, one at a time, and runs the test
 * files that hold it. A change that none notices survives, and is shown. A part below `LEAST` is a failure. Takes
 * minutes for each part.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { run } from '../../tools/command.ts';

interface Part {
  readonly source: readonly string[];
  readonly tests: readonly string[];
  /** Tests that are left out, by a part of their names: each mistaken regular expression would read them for half a minute. */
  readonly without?: string;
}

const PARTS: Readonly<Record<string, Part>> = {
  'parse-json': { source: ['src/lib/parse-json.ts'], tests: ['src/lib/parse-json.test.ts'] },
  'media-type': {
    source: ['src/http/media-type.ts'],
    tests: ['src/http/media-type.test.ts'],
    without: 'hostile repeats',
  },
  problem: {
    source: ['src/http/problem.ts', 'src/http/trace-id.ts'],
    tests: ['src/http/problem.test.ts', 'src/http/trace-id.test.ts', 'test/http/problems.test.ts'],
  },
  routes: { source: ['src/http/route.ts'], tests: ['src/http/route.test.ts'] },
  todo: {
    source: ['src/todos/todo.ts'],
    tests: ['src/todos/todo.test.ts', 'src/todos/requests.test.ts'],
  },
  requests: { source: ['src/todos/requests.ts'], tests: ['src/todos/requests.test.ts'] },
  token: {
    source: ['src/auth/{explain,token}/*.ts', '!src/auth/token/*.test.ts'],
    tests: [
      'src/auth/token/checks.test.ts',
      'src/auth/token/refusal.test.ts',
      'test/auth/examine.test.ts',
      'test/auth/hostile-tokens.test.ts',
      'test/auth/advice.test.ts',
      'test/auth/authenticate.test.ts',
    ],
  },
};

/** Percent of the changes that a test must notice. */
const LEAST = 90;

/** In one process: a start costs more than most of these tests do. */
const RUNS =
  'tools/runtime/node --require ./test/support/plain.ts --test-isolation=none --test-reporter=./test/mutants/first-failure.ts --test';

run(process.execPath, 'tools/install.ts', 'test/mutants');
const names = process.argv.slice(2);
mkdirSync('build/mutants', { recursive: true });
const failed: string[] = [];
for (const name of names.length > 0 ? names : Object.keys(PARTS)) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`A part must be one of ${Object.keys(PARTS)}, received ${name}`);
  const file = `build/mutants/${name}.json`;
  const without = part.without === undefined ? '' : `--test-skip-pattern='${part.without}' `;
  const command = `${RUNS} ${without}${part.tests.join(' ')}`;
  const options = {
    mutate: part.source,
    testRunner: 'command',
    commandRunner: { command },
    coverageAnalysis: 'off',
    concurrency: Math.min(2, availableParallelism()),
    timeoutMS: 30_000,
    // Stryker reads it with a TypeScript that has an interface, which the one of this project has not.
    tsconfigFile: 'build/mutants/none.json',
    disableTypeChecks: false,
    plugins: [],
    ignorePatterns: ['build', 'data', 'dist', 'bench', 'test/generators', 'test/mutants/node_modules'],
    tempDirName: 'build/mutants/sandbox',
    cleanTempDir: 'always',
    reporters: ['clear-text'],
    clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false },
    allowConsoleColors: false,
    thresholds: { high: 100, low: LEAST, break: LEAST },
  };
  writeFileSync(file, JSON.stringify(options));
  process.stdout.write(`\n${name}\n`);
  try {
    run(process.execPath, 'test/mutants/node_modules/@stryker-mutator/core/bin/stryker.js', 'run', file);
  } catch {
    failed.push(name);
  }
}
if (failed.length > 0) {
  process.stderr.write(`Below ${LEAST} %: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
