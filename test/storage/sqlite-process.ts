// A process that opens the SQLite file of its first argument, waits at most the milliseconds of its second
// for another owner, says on one line of JSON what came of it, and serves until its standard input ends.

import { OperatorError } from '../../src/lib/operator-error.ts';
import { openSqliteStore } from './sqlite-store.ts';

const [path = '', patienceMs = '0'] = process.argv.slice(2);
try {
  await using _store = await openSqliteStore(path, { patienceMs: Number(patienceMs) });
  console.log(JSON.stringify({ outcome: 'open' }));
  for await (const _ of process.stdin);
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  console.log(JSON.stringify({ outcome: error.reason, message: error.message }));
}
