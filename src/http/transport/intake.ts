import type { Socket } from 'node:net';
import { within } from '../../within.ts';
import { Framing } from './framing.ts';

/** Bytes that Node.js parses at a time, at most. It parses whatever it is given in one go. */
const SLICE_BYTES = 1024;

/** Bytes of one connection that are parsed in one turn of the event loop: the turn is everybody's. */
const TURN_BYTES = 4 * SLICE_BYTES;

/** What is still coming behind a last answer is read and thrown away for at most so long and so far (contract B5). */
export const LINGER_MS = 1_000;
export const LINGER_BYTES = 1024 * 1024;

type Chunk = Buffer<ArrayBuffer>;

/**
 * What comes in on one connection, on its way to the parser of Node.js: in slices, and not at all while it is held.
 * What is not read stays with the client: TCP makes it wait.
 */
export class Intake {
  readonly framing = new Framing();
  readonly #socket: Socket;
  /** The parser's own listener for `data`. */
  readonly #parse: (slice: Chunk) => void;
  #holds = 0;
  #releasedAt = Number.NEGATIVE_INFINITY;
  /** Until the next turn. */
  #waitsForTurn = false;
  /** Node.js pauses as well, for a client that does not read, and then its parser must not be given anything. */
  #pausedByNode = false;
  #parsing = false;
  #stopped = false;
  #thrownAway = 0;
  readonly #enough = Promise.withResolvers<void>();

  /** Takes over from the listener that the HTTP server has put on the socket. */
  constructor(socket: Socket) {
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('Cannot take over: the HTTP server does not listen for data');
    this.#socket = socket;
    this.#parse = (slice) => parse.call(socket, slice);
    socket.on('data', (chunk: Chunk) => {
      this.#pausedByNode = false;
      const rest = this.#take(chunk);
      if (rest !== undefined) socket.unshift(rest);
    });
    socket.off('data', parse as () => void);
    const push = socket.push;
    // A packet that the parser takes at once need not go through the buffer of the stream.
    socket.push = (chunk: Chunk | null) => {
      if (chunk === null || socket.readableFlowing !== true || socket.readableLength > 0) {
        return push.call(socket, chunk);
      }
      const rest = this.#take(chunk);
      return rest === undefined || push.call(socket, rest);
    };
  }

  get held(): boolean {
    return this.#holds > 0;
  }

  /** Whether something may have come that is not read. */
  get paused(): boolean {
    return this.held || this.#pausedByNode;
  }

  /** Whether it was held at any time since `since`, a time of `performance.now()`. */
  heldSince(since: number): boolean {
    return this.held || this.#releasedAt >= since;
  }

  /** Reads no more from now on. The slice that is being parsed is parsed to its end. */
  hold(): void {
    this.#holds += 1;
    if (!this.#parsing) this.#pause();
  }

  /** Ends one `hold`. */
  release(): void {
    this.#holds -= 1;
    if (this.held) return;
    this.#releasedAt = performance.now();
    this.#resume();
  }

  /** Held until the promise is settled. */
  holdFor(wait: Promise<unknown>): void {
    this.hold();
    const release = () => this.release();
    wait.then(release, release);
  }

  /** Parses nothing any more: what comes is thrown away. */
  stop(): void {
    this.#stopped = true;
    this.#socket.resume();
  }

  /**
   * Stops, and goes on reading for at most 1 s or 1 MiB: a connection that is closed on unread bytes is reset, and the
   * reset destroys the answer (RFC 9112 §9.6).
   */
  linger(): Promise<void> {
    this.stop();
    this.#socket.once('end', this.#enough.resolve).once('close', this.#enough.resolve);
    return within(LINGER_MS, this.#enough.promise, undefined);
  }

  /** Parses what may be parsed now; the result is what may not. */
  #take(chunk: Chunk): Chunk | undefined {
    let from = 0;
    while (from < chunk.length) {
      if (this.#stopped) {
        this.#thrownAway += chunk.length - from;
        if (this.#thrownAway > LINGER_BYTES) this.#enough.resolve();
        return undefined;
      }
      if (from >= TURN_BYTES) this.#waitForTurn();
      if (this.#pausedByNode) return chunk.subarray(from);
      if (this.held || this.#waitsForTurn) {
        this.#socket.pause();
        return chunk.subarray(from);
      }
      const isWhole = from === 0 && chunk.length <= SLICE_BYTES;
      const slice = this.framing.sliceOf(isWhole ? chunk : chunk.subarray(from, from + SLICE_BYTES));
      this.#parsing = true;
      this.#parse(slice);
      this.#parsing = false;
      this.#pausedByNode = this.#socket.isPaused();
      from += slice.length;
    }
    if (this.held) this.#pause();
    return undefined;
  }

  #waitForTurn(): void {
    this.#waitsForTurn = true;
    setImmediate(() => {
      this.#waitsForTurn = false;
      this.#resume();
    });
  }

  #resume(): void {
    if (this.held || this.#waitsForTurn || this.#parsing || this.#pausedByNode) return;
    this.#socket.resume();
  }

  #pause(): void {
    if (!this.#pausedByNode) this.#socket.pause();
  }
}
