// Kills the service while creates with a key are under way, and repeats them: node endurance/repeat-cycles.ts --help

import { temporaryFolder } from '../test/folder.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { crashRepeats } from '../test/storage/crash-repeats.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';

const HELP = `Usage: node endurance/repeat-cycles.ts [flags]

Eight clients create todos with an Idempotency-Key; the service is killed with SIGKILL at a random moment, and what was
not answered is repeated: after the restart, or with the other of two instances. Every create must have made one todo.
The last line has the seed and the figures; each fault is a line on standard error, and the exit code is 1 then. A cycle
takes about a second.

  --cycles N     default 200
  --seed N       default: of the clock
  --postgresql   two instances on one PostgreSQL, which are killed in turn
  --help
`;

const flags = scriptFlags(HELP, { cycles: 200, seed: Date.now() % 1_000_000 }, ['postgresql']);
const { cycles, seed, postgresql } = flags;

await using folder = await temporaryFolder();
await using server = postgresql ? await PostgresServer.start() : undefined;
const env = server === undefined ? {} : { TODO_DATABASE: await server.makeDatabase() };
const instances = postgresql ? 2 : 1;
const { faults, ...figures } = await crashRepeats({ instances, dataDir: folder.path, cycles, seed, env });
for (const fault of faults) console.error(fault);
console.log(JSON.stringify({ seed, postgresql, ...figures, faults: faults.length }));
process.exitCode = faults.length === 0 ? 0 : 1;
