import { readdirSync } from 'node:fs';
import { errorCode } from './files.ts';

/** Where the system shows a process what it has open. */
const OPEN = '/dev/fd';

/** As far as this program reads it. */
interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | 'unlimited' } };
}

/** How many files and sockets this process may still open; infinitely many where nobody tells. Node.js has raised the limit. */
export function freeDescriptors(): number {
  // It would ask for the names of all peers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits }: Report = process.report.getReport();
  const limit = userLimits?.open_files?.soft;
  if (typeof limit !== 'number') return Number.POSITIVE_INFINITY;
  try {
    return limit - readdirSync(OPEN).length;
  } catch (error) {
    return errorCode(error) === 'EMFILE' ? 0 : Number.POSITIVE_INFINITY;
  }
}
