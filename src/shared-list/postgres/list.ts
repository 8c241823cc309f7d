import { setImmediate as turn } from 'node:timers/promises';
import { chunkOf, makeChunk } from '../list/chunk.ts';
import { ListChunks } from '../list/chunks.ts';
import { singleFlight } from '../list/single-flight.ts';
import type { ListVersion } from '../list/version.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { SELECTED, type TodoRow, todoOf } from './row.ts';

const SNAPSHOT = 'SELECT pg_current_snapshot()::text AS snapshot';

const READ_LIST = `SELECT pg_current_snapshot()::text AS snapshot, ${SELECTED}
  FROM (VALUES (0)) AS one LEFT JOIN todos ON true ORDER BY id`;

/** Milliseconds without a part of the list after which the server counts as stalled. */
const SILENCE = 1_400;

/**
 * The list, built once per change. As long as the server has the same snapshot, no transaction has committed,
 * by whatever instance: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export class PostgresList {
  readonly #quick: ConnectionPool;
  readonly #patient: ConnectionPool;
  readonly #chunks = new ListChunks();
  #kept: { readonly snapshot: string; readonly version: ListVersion } | undefined;

  /** @param patient May take longer for an answer than is right for one todo. */
  constructor(quick: ConnectionPool, patient: ConnectionPool) {
    this.#quick = quick;
    this.#patient = patient;
  }

  /** Never older than the call. */
  readonly current = singleFlight(async (): Promise<ListVersion> => {
    const [now] = await this.#quick.read<{ snapshot: string }>({ name: 'snapshot', text: SNAPSHOT });
    if (this.#kept === undefined || this.#kept.snapshot !== now?.snapshot) this.#kept = await this.#build();
    return this.#kept.version;
  });

  async #build() {
    const query = { name: 'list', text: READ_LIST };
    const rows = await this.#patient.transaction((ask) =>
      ask<TodoRow & { snapshot: string }>(query, SILENCE),
    );
    const [{ snapshot } = { snapshot: '' }] = rows;
    const numbers = new Map<number, TodoRow[]>();
    for (const row of rows) {
      if (row.id === null) continue;
      const number = chunkOf(row.id);
      const chunk = numbers.get(number);
      if (chunk === undefined) numbers.set(number, [row]);
      else chunk.push(row);
    }
    for (const [number, chunk] of numbers) {
      await turn();
      this.#chunks.set(number, makeChunk(chunk.map(todoOf)));
    }
    this.#chunks.keepOnly(new Set(numbers.keys()));
    return { snapshot, version: this.#chunks.version() };
  }
}
