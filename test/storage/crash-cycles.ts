// Kills the service many times and says what was lost: node test/storage/crash-cycles.ts --cycles 200 --seed 1
// With --power-cut the disk forgets what was not synced, too (Linux, a C compiler).
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crash } from './crash.ts';
import { compileDisk, cutPower } from './disk.ts';
import { temporaryFolder } from './folder.ts';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'power-cut': { type: 'boolean', default: false },
  },
});

await using folder = await temporaryFolder();
const dataDir = join(folder.path, 'data');
const kept = join(folder.path, 'kept');
await mkdir(dataDir);
await mkdir(kept);
const common = { dataDir, cycles: Number(values.cycles), seed: Number(values.seed) };
const figures = values['power-cut']
  ? await crash({
      ...common,
      env: { ...(await compileDisk(folder.path)), DISK_FOLDER: dataDir, DISK_KEPT: kept },
      afterDeath: (random) => cutPower(dataDir, kept, random),
    })
  : await crash(common);

const { cycles, acknowledged, faults } = figures;
console.log(JSON.stringify({ ...values, cycles, acknowledged, faults: faults.length }));
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
