import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { outputOf } from '../command.ts';
import { lockedFor } from '../locked.ts';
import runtime from '../runtime/package.json' with { type: 'json' };

/**
 * What is inside of the executable for a kind of machine (`linux-x64`), in CycloneDX: the packages of the service, those for
 * traces, and Node.js. `npm sbom` makes it; time and serial number follow from the date and the content.
 *
 * @param date Seconds since 1970.
 */
export function bill(kind: string, date: string): string {
  const pinned = Object.entries(runtime.optionalDependencies).filter(([name]) => name.endsWith(kind));
  if (pinned.length === 0) throw new Error(`There is no Node.js for ${kind}`);
  const locked = lockedFor(({ dependencies, peerDependencies }) => ({
    ...dependencies,
    ...peerDependencies,
    ...Object.fromEntries(pinned),
  }));
  const folder = mkdtempSync(join(tmpdir(), 'todo-service-bill-'));
  try {
    // npm takes the name of the folder for that of the package.
    const place = join(folder, manifest.name);
    mkdirSync(place);
    writeFileSync(
      join(place, 'package.json'),
      JSON.stringify({ ...locked.packages[''], version: manifest.version }),
    );
    writeFileSync(join(place, 'package-lock.json'), JSON.stringify(locked));
    const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--force'];
    const text = outputOf('npm', '--prefix', place, ...words);
    if (text === undefined) throw new Error('"npm sbom" fails');
    return dated(JSON.parse(text), date);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function dated(sbom: { metadata: object }, date: string): string {
  const metadata = { ...sbom.metadata, timestamp: new Date(Number(date) * 1_000).toISOString() };
  const content = JSON.stringify({ ...sbom, metadata, serialNumber: undefined });
  const hash = createHash('sha256').update(content).digest('hex');
  // A UUID of version 8 (RFC 9562 §5.8): its bits are ours to choose.
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return `${JSON.stringify({ ...sbom, metadata, serialNumber: `urn:uuid:${parts.join('-')}` }, null, 2)}\n`;
}
