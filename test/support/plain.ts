import { isMainThread } from 'node:worker_threads';
import { plain } from './environment.ts';

// What a machine or its user has chosen makes no difference to a test. Required by the runner and by the process of each
// test file, which has it from the runner: what Node.js reads before any module would stay otherwise.
if (isMainThread) {
  const environment = plain(process.env);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  process.umask(0o022);
}
