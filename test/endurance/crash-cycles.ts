// Kills the service many times and says what was lost: node test/endurance/crash-cycles.ts --help
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crash } from '../storage/crash.ts';
import { crashRepeats } from '../storage/crash-repeats.ts';
import { compileDisk, cutPower, settle } from '../storage/disk.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { scriptFlags } from '../support/script-flags.ts';

const HELP = `Usage: node test/endurance/crash-cycles.ts [flags]

Eight clients write; the service is killed with SIGKILL at a random moment and started again. Every answered write must
be there once, and nothing else but what was asked and not answered. The last line has the seed and the figures; each
fault is a line on standard error, and the exit code is 1 then. A cycle takes about a second.

  --cycles N     default 200
  --seed N       default: of the clock
  --power-cut    the disk forgets bytes and names that were not synced, too (Linux, a C compiler)
  --repeats      clients create with an Idempotency-Key instead, and repeat what was not answered: every create must have
                 made one todo
  --postgresql   with --repeats: two instances on one PostgreSQL, which are killed in turn; each repeats the other's
  --help
`;

const flags = scriptFlags(HELP, { cycles: 200, seed: Date.now() % 1_000_000 }, [
  ...(['power-cut', 'repeats', 'postgresql'] as const),
]);

process.exitCode = await main();

async function main(): Promise<number> {
  await using folder = await temporaryFolder();
  const { faults, ...figures } = await (flags.repeats ? repeats : writes)(folder.path);
  for (const fault of faults) console.error(fault);
  console.log(JSON.stringify({ ...flags, ...figures, faults: faults.length }));
  return faults.length === 0 ? 0 : 1;
}

async function writes(folder: string) {
  const dataDir = join(folder, 'data');
  const kept = join(folder, 'kept');
  await mkdir(dataDir);
  const common = { dataDir, cycles: flags.cycles, seed: flags.seed };
  if (!flags['power-cut']) return crash(common);
  const env = { ...(await compileDisk(folder)), DISK_FOLDER: dataDir, DISK_KEPT: kept };
  settle(dataDir, kept);
  const afterDeath = async (random: () => number) => {
    cutPower(dataDir, kept, random);
    settle(dataDir, kept);
  };
  return crash({ ...common, env, afterDeath });
}

async function repeats(dataDir: string) {
  const { cycles, seed, postgresql } = flags;
  await using server = postgresql ? await PostgresServer.start() : undefined;
  const env = server === undefined ? {} : { TODO_DATABASE: await server.makeDatabase() };
  return await crashRepeats({ instances: postgresql ? 2 : 1, dataDir, cycles, seed, env });
}
