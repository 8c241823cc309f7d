import { setImmediate as turn } from 'node:timers/promises';
import {
  CHUNK_SIZE,
  type Chunk,
  chunk,
  joinSegments,
  keepEqual,
  type Segment,
  segmentOf,
  tagOf,
} from '../list-json.ts';
import { ListVersion } from '../list-version.ts';
import { sharedRun } from '../shared-run.ts';
import type { ConnectionPool } from './connection-pool.ts';

const SNAPSHOT = 'SELECT pg_current_snapshot()::text AS snapshot';

// The snapshot that the list is read in comes first. The text is the same as `represent` makes.
const READ_LIST = `SELECT -1 AS chunk, pg_current_snapshot()::text AS text
  UNION ALL SELECT id / ${CHUNK_SIZE}, string_agg('{"id":' || id || ',"title":' || to_json(title)::text ||
    ',"done":' || done::text || ',"categoryId":' || category_id || '}', ',' ORDER BY id)
  FROM todos GROUP BY id / ${CHUNK_SIZE} ORDER BY chunk`;

/** Milliseconds without a part of the list after which the server counts as stalled. */
const SILENCE = 1_400;

/** How many chunks are looked at before other requests have their turn: about a millisecond. */
const CHUNKS_A_TURN = 32;

/**
 * The list, built once per change. As long as the server has the same snapshot, no transaction has committed,
 * by whatever instance: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export class PostgresList {
  readonly #quick: ConnectionPool;
  readonly #patient: ConnectionPool;
  #kept: { readonly snapshot: string; readonly version: ListVersion } | undefined;
  #segments: ReadonlyMap<number, Segment> = new Map();

  /** @param patient May take longer for an answer than is right for one todo. */
  constructor(quick: ConnectionPool, patient: ConnectionPool) {
    this.#quick = quick;
    this.#patient = patient;
  }

  /** Never older than the call. */
  readonly current = sharedRun(async (): Promise<ListVersion> => {
    const [now] = await this.#quick.read<{ snapshot: string }>({ name: 'snapshot', text: SNAPSHOT });
    if (this.#kept === undefined || this.#kept.snapshot !== now?.snapshot) this.#kept = await this.#build();
    return this.#kept.version;
  });

  async #build() {
    const query = { name: 'list', text: READ_LIST };
    const [first, ...rows] = await this.#patient.readMany<{ chunk: number; text: string }>(query, SILENCE);
    if (first === undefined) throw new Error('The list came without its snapshot');
    const chunks = new Map<number, Chunk>();
    for (const { chunk: number, text } of rows) {
      if (chunks.size % CHUNKS_A_TURN === 0) await turn();
      chunks.set(number, chunk(Buffer.from(text)));
    }
    await turn();
    const segments = joinSegments(chunks, new Set(chunks.keys().map(segmentOf)));
    this.#segments = keepEqual(this.#segments, segments);
    return { snapshot: first.text, version: new ListVersion(this.#segments, tagOf(chunks.values())) };
  }
}
