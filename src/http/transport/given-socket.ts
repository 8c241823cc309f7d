import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { orUndefined } from '../../lib/errors.ts';

/** The first descriptor that a parent gives (sd_listen_fds(3)). */
const GIVEN = 3;

/** A socket that came with the start. */
export interface GivenSocket {
  readonly fd: number;
  /** For people: `unix:/run/todo.sock`, or the descriptor. */
  readonly name: string;
}

/**
 * The given socket: what it is, for people, and how to listen on it, if it is a TCP or Unix stream that listens. Node.js
 * would listen somewhere on a TCP socket without an address, and says EINVAL of all others. Where the system does not
 * tell, `listen` decides.
 */
export function lookAtGiven(): { readonly what: string; readonly socket?: GivenSocket } {
  const socket = { fd: GIVEN, name: `descriptor ${GIVEN}` };
  const unknown = { what: 'not known', socket };
  if (!existsSync('/proc/self/fd')) return unknown;
  const link = orUndefined(() => readlinkSync(`/proc/self/fd/${GIVEN}`));
  const inode = link?.match(/^socket:\[(\d+)\]$/)?.[1];
  if (inode === undefined) return { what: link === undefined ? 'closed' : JSON.stringify(link) };
  const [tcp, udp] = [rowIn(['tcp', 'tcp6'], 9, inode), rowIn(['udp', 'udp6'], 9, inode)];
  const unix = rowIn(['unix'], 6, inode);
  if (tcp === undefined && udp === undefined && unix === undefined) return unknown;
  if (tcp?.[3] === '0A') return { what: 'a TCP socket that listens', socket };
  // Its flags and its type, as the kernel has them.
  if (unix?.[3] === '00010000' && unix[4] === '0001')
    return {
      what: 'a Unix socket that listens',
      socket: { ...socket, name: `unix:${unix.slice(7).join(' ')}` },
    };
  if (tcp?.length) return { what: 'a TCP connection' };
  if (udp?.length) return { what: 'a UDP socket' };
  if (unix?.length)
    return {
      what: unix[4] === '0001' ? 'a Unix socket that does not listen' : 'a Unix socket that is no stream',
    };
  return { what: 'a socket that does not listen, or is of another network namespace' };
}

/** The row of a socket in the tables of the kernel: empty when there is none, undefined when no table can be read. */
function rowIn(tables: readonly string[], inodeAt: number, inode: string): readonly string[] | undefined {
  const readable = tables.map((table) => `/proc/self/net/${table}`).filter((table) => existsSync(table));
  if (readable.length === 0) return undefined;
  const rows = readable.flatMap((table) =>
    readFileSync(table, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/)),
  );
  return rows.find((row) => row[inodeAt] === inode) ?? [];
}
