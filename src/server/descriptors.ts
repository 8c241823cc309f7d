import { readdirSync } from 'node:fs';
import { errorCode } from '../lib/errors.ts';
import { ConfigFaults } from '../settings/read.ts';
import { ADMIN_LIMITS } from './admin.ts';
import type { Config } from './config.ts';

/** The folder in which the system shows a process its open files. */
const OPEN = '/dev/fd';

interface Report {
  readonly userLimits: { readonly open_files: { readonly soft: number | 'unlimited' } };
}

/** Files and sockets that this process may still open, else infinity. Node.js has raised the limit. */
export function freeDescriptors(): number {
  // A report would look up the names of all peers.
  Object.assign(process.report, { excludeNetwork: true });
  const { soft: limit } = (process.report.getReport() as Report).userLimits.open_files;
  if (limit === 'unlimited') return Number.POSITIVE_INFINITY;
  try {
    return limit - readdirSync(OPEN).length;
  } catch (error) {
    return errorCode(error) === 'EMFILE' ? 0 : Number.POSITIVE_INFINITY;
  }
}

/** Files that are opened for a moment, and others that are not counted. */
const SPARE_DESCRIPTORS = 64;

/** The connections that this process can take (contract D16). @throws {ConfigFaults} when none is left. */
export function connectionsFor({ maxConnections, admin, profile }: Config, free = freeDescriptors()): number {
  const ofDatabase =
    profile.name === 'shared-list' && profile.database.engine === 'postgresql'
      ? profile.database.connections
      : 0;
  const kept = (admin === undefined ? 0 : ADMIN_LIMITS.maxConnections) + ofDatabase + SPARE_DESCRIPTORS;
  const left = free - kept;
  if (left >= 1) return Math.min(maxConnections, left);
  throw new ConfigFaults([
    `the limit of open files ("ulimit -n", LimitNOFILE) must leave one for a connection, received ${1 - left} too few`,
  ]);
}
