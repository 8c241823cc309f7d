// Kills the service many times and says what was lost: node endurance/crash-cycles.ts --help
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../test/folder.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { crash } from '../test/storage/crash.ts';
import { compileDisk, cutPower } from '../test/storage/disk.ts';

const HELP = `Usage: node endurance/crash-cycles.ts [flags]

Eight clients write; the service is killed with SIGKILL at a random moment and started again. Every answered write must
be there once, and nothing else but what was asked and not answered. The last line has the seed and the figures; each
fault is a line on standard error, and the exit code is 1 then. A cycle takes about a second.

  --cycles N     default 200
  --seed N       default: of the clock
  --power-cut    the disk forgets what was not synced, too (Linux, a C compiler)
  --help
`;

const flags = scriptFlags(HELP, { cycles: 200, seed: Date.now() % 1_000_000 }, ['power-cut']);

await using folder = await temporaryFolder();
const dataDir = join(folder.path, 'data');
const kept = join(folder.path, 'kept');
await mkdir(dataDir);
await mkdir(kept);
const common = { dataDir, cycles: flags.cycles, seed: flags.seed };
const figures = flags['power-cut']
  ? await crash({
      ...common,
      env: { ...(await compileDisk(folder.path)), DISK_FOLDER: dataDir, DISK_KEPT: kept },
      afterDeath: (random) => cutPower(dataDir, kept, random),
    })
  : await crash(common);

const { cycles, acknowledged, faults } = figures;
for (const fault of faults) console.error(fault);
const { seed, 'power-cut': powerCut } = flags;
console.log(JSON.stringify({ seed, powerCut, cycles, acknowledged, faults: faults.length }));
process.exitCode = faults.length === 0 ? 0 : 1;
