import { isMainThread } from 'node:worker_threads';
import '../support/plain.ts';

// Node.js preloads this into the threads of a test, too.
if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) await import('./watch.ts');
