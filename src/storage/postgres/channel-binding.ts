import type { Connection } from 'pg';
import { ServerUnfit } from './error.ts';

/** The authentication messages of a login that is bound to its TLS channel, in order: RFC 5802 §5; RFC 7677. */
const BOUND_LOGIN = ['SASL', 'SASLContinue', 'SASLFinal', 'Ok'].map((name) => `authentication${name}`);

const NOT_BOUND =
  'it does not log in by SCRAM-SHA-256-PLUS, which "channel_binding=require" needs: leave that out with ' +
  '"sslmode=verify-full"';

/** A message of the server, before the driver has acted on it. */
interface Message {
  readonly name: string;
  readonly mechanisms?: readonly string[];
}

/**
 * Ends the connection before the driver answers any request to log in but that of SCRAM-SHA-256-PLUS, and when the server
 * asks for nothing. The driver itself, with `enableChannelBinding`, prefers that mechanism, verifies the answer of the
 * server, and else gives the server what it asks for: a password, as text or by MD5. Called before the driver connects.
 */
export function requireChannelBinding(connection: Connection): void {
  let next = 0;
  connection.on('message', ({ name, mechanisms }: Message) => {
    if (!name.startsWith('authentication') && (name !== 'readyForQuery' || next === BOUND_LOGIN.length))
      return;
    if (name === BOUND_LOGIN[next] && mechanisms?.includes('SCRAM-SHA-256-PLUS') !== false) {
      next += 1;
      return;
    }
    connection.emit('error', new ServerUnfit(NOT_BOUND));
    // What the driver writes from now on is dropped.
    connection.stream.destroy();
  });
}
