import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { orUndefined } from '../lib/errors.ts';

/** The first descriptor that a parent gives (sd_listen_fds(3)). */
const GIVEN = 3;

/** Where the kernel of Linux tells of sockets. */
const NET = '/proc/self/net/';
const TABLES = ['tcp', 'tcp6', 'udp', 'udp6', 'unix'].map((table) => NET + table);

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
  const inode = link?.match(/^socket:\[(\d+)\]/)?.[1];
  if (inode === undefined) return { what: link === undefined ? 'closed' : JSON.stringify(link) };
  if (!TABLES.some((table) => existsSync(table))) return unknown;
  const [tcp, udp, unix] = [rowOf('tcp', inode), rowOf('udp', inode), rowOf('unix', inode)];
  if (tcp[3] === '0A') return { what: 'a TCP socket that listens', socket };
  // Its flags and its type, as the kernel has them.
  if (unix[3] === '00010000' && unix[4] === '0001')
    return {
      what: 'a Unix socket that listens',
      socket: { ...socket, name: `unix:${unix.slice(7).join(' ')}` },
    };
  if (tcp.length > 0) return { what: 'a TCP connection' };
  if (udp.length > 0) return { what: 'a UDP socket' };
  if (unix.length > 0)
    return {
      what: unix[4] === '0001' ? 'a Unix socket that does not listen' : 'a Unix socket that is no stream',
    };
  return { what: 'a socket that does not listen, or is of another network namespace' };
}

function rowOf(kind: string, inode: string): readonly string[] {
  const inodeAt = kind === 'unix' ? 6 : 9;
  const rows = TABLES.filter((table) => table.startsWith(NET + kind) && existsSync(table)).flatMap((table) =>
    readFileSync(table, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/)),
  );
  return rows.find((row) => row[inodeAt] === inode) ?? [];
}
