import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { plain } from './environment.ts';
import { noteWarnings } from './warnings.ts';

// What every run of tests requires: the runner, the process of each test file, and the threads of that.

// What a machine or its user has chosen makes no difference to a test. The process of a test file has its environment from
// the runner: what Node.js reads before any module would stay otherwise.
if (isMainThread) {
  const environment = plain(process.env);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.umask(0o022);
}

const runsTests =
  process.env.NODE_TEST_CONTEXT !== undefined || process.execArgv.includes('--test-isolation=none');
if (runsTests) noteWarnings();
if (runsTests && isMainThread) createRequire(import.meta.url)('./watch.ts');
