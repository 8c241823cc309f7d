import type { Connection } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import { ServerUnfit } from './error.ts';

/** Methods by their numbers: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const METHODS: Readonly<Record<string, string>> = { 7: 'GSSAPI', 9: 'SSPI' };

/** Makes an error of the connection of what the driver throws before its login, which would end the process. */
export function refuseUnknownLogins(connection: Connection, encrypted: boolean): void {
  let loggedIn = false;
  const fail = (error: unknown): void => {
    connection.emit('error', error);
    connection.stream.destroy();
  };
  connection.once('readyForQuery', () => {
    loggedIn = true;
  });
  connection.prependListener('authenticationSASL', ({ mechanisms }: { mechanisms: readonly string[] }) => {
    if (!mechanisms.some((name) => name.startsWith('SCRAM-SHA-256'))) fail(unknown(mechanisms.join(', ')));
  });
  // The driver reads the stream, which is then another one than at first, from here on.
  connection.once(encrypted ? 'sslconnect' : 'connect', () => {
    const [parse] = connection.stream.listeners('data');
    let unread: Buffer = Buffer.alloc(0);
    connection.stream.removeAllListeners('data').on('data', (bytes: Buffer) => {
      const isOfLogin = !loggedIn;
      if (isOfLogin) {
        const rest = restOf(Buffer.concat([unread, bytes]));
        if (rest === undefined) return fail(new Error('its answer cannot be read as one of PostgreSQL'));
        unread = rest;
      }
      try {
        parse?.(bytes);
      } catch (error) {
        if (!isOfLogin) throw error;
        const [, number] = /^Unknown authenticationOk message type (\d+)$/.exec(messageOf(error)) ?? [];
        fail(number ? unknown(METHODS[number] ?? `method ${number}`) : error);
      }
    });
  });
}

/** Bytes of a message before the end of a login, at most. Other protocols seem to announce more. */
const LONGEST = 1_000_000;

/**
 * The message that has begun, of bytes that begin with one; undefined if it is too long, and behind an error or a notice
 * that lacks its final byte. The driver would look for that for ever: pgagroal 2.1 leaves it out where it has no connection
 * to the server.
 */
function restOf(bytes: Buffer): Buffer | undefined {
  let at = 0;
  while (at + 5 <= bytes.length) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (end - at > LONGEST) return undefined;
    if (end > bytes.length) break;
    const isOfFields = bytes[at] === 0x45 || bytes[at] === 0x4e;
    if (isOfFields && (bytes[end - 1] !== 0 || bytes[end - 2] !== 0)) return undefined;
    at = end;
  }
  return bytes.subarray(at);
}

function unknown(method: string): ServerUnfit {
  return new ServerUnfit(
    `its pg_hba.conf asks for a login by ${method}, which this program does not know: give it a line with "scram-sha-256"`,
  );
}
