import type { Connection } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import { ServerUnfit } from './error.ts';

/** Methods by their numbers: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const METHODS: Readonly<Record<string, string>> = { 7: 'GSSAPI', 9: 'SSPI' };

/**
 * Makes an error of the connection of what the driver throws until it has logged in, which would end the process. Called
 * before the driver connects.
 */
export function refuseUnknownLogins(connection: Connection, encrypted: boolean): void {
  let loggedIn = false;
  const fail = (reason: string): void => {
    connection.emit('error', new ServerUnfit(reason));
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
    connection.stream.removeAllListeners('data').on('data', (bytes) => {
      const isOfLogin = !loggedIn;
      try {
        parse?.(bytes);
      } catch (error) {
        if (!isOfLogin) throw error;
        const [, number] = /^Unknown authenticationOk message type (\d+)$/.exec(messageOf(error)) ?? [];
        fail(number ? unknown(METHODS[number] ?? `method ${number}`) : messageOf(error));
      }
    });
  });
}

const unknown = (method: string): string =>
  `its pg_hba.conf asks for a login by ${method}, which this program does not know: give it a line with "scram-sha-256"`;
