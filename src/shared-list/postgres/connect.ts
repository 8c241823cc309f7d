import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { StoreNotOpened, unusable } from '../store.ts';
import { type Address, addressOf } from './address.ts';
import { messageOf } from './error.ts';

/** Milliseconds for one try to connect, and between two. */
const CONNECTION_WAIT = 2_000;
const RETRY_INTERVAL = 250;

/** Milliseconds that a statement may take, for example a migration, the wait for another instance's included. */
const STATEMENT_WAIT = 60_000;

/** It is starting or stopping, or has no connection left. */
const LATER = ['57P03', '53300'];

/** A connection that is ready for statements. Whoever asked for it ends it. */
export interface Connected {
  readonly client: Client;
  readonly address: Address;
}

/**
 * Connects, and looks whether the database will do.
 *
 * @param patience Milliseconds to wait for a server that cannot be reached yet.
 * @param faultOf What is wrong with the database, for people, or undefined.
 * @throws {StoreNotOpened} for whatever goes wrong, with one line for people, without the password.
 */
export async function connect(
  connectionString: string,
  patience: number,
  faultOf: (client: Client) => Promise<string | undefined>,
): Promise<Connected> {
  const address = addressOf(connectionString);
  await using parts = new AsyncDisposableStack();
  try {
    const client = parts.adopt(await reach(address, patience), (opened) => opened.end());
    const fault = await faultOf(client);
    if (fault !== undefined) throw unusable(address.name, fault);
    parts.move();
    return { client, address };
  } catch (error) {
    throw error instanceof StoreNotOpened ? error : unusable(address.name, messageOf(error), error);
  }
}

/** A server that cannot be reached, or refuses for now, may be there in a moment; other refusals are final. */
async function reach(address: Address, patience: number): Promise<Client> {
  const deadline = performance.now() + patience;
  for (;;) {
    const client = new Client({
      ...address.config,
      connectionTimeoutMillis: CONNECTION_WAIT,
      statement_timeout: STATEMENT_WAIT,
      query_timeout: STATEMENT_WAIT,
    });
    // Without a listener, a connection that is lost between two statements would end the process.
    client.on('error', () => {});
    try {
      return await client.connect();
    } catch (error) {
      const final = error instanceof DatabaseError && !LATER.includes(error.code ?? '');
      if (final || performance.now() >= deadline) throw error;
    }
    await sleep(RETRY_INTERVAL);
  }
}
