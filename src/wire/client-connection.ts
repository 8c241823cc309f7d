import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Framing } from './framing.ts';
import type { LIMITS } from './limits.ts';

type Bytes = Buffer<ArrayBuffer>;

/** Bytes of one connection that are parsed in one turn of the event loop, which all connections share. */
const TURN_BYTES = 4 * 1024;

/** Bytes behind a last answer that are read and thrown away, at most (contract B5). */
const LINGER_BYTES = 64 * 2 ** 20;

/** Milliseconds after an answer in which a client may ask again, or first, although the listener has closed. */
const IDLE_MS = 500;

/** Milliseconds of a client that asks again and again, and milliseconds in which a last answer may be read. */
const BUSY_MS = 2_000;

/** One connection throws bytes away in a turn of the event loop: 2 MB of each would make every other wait. */
let throwingAway = Promise.resolve();

/**
 * One connection of a client. One request is under way; the bytes behind it are not parsed until its answer is out
 * (contract D10). TCP holds the client back. The behaviour of Node.js that this relies on is held by
 * `test/http/node-habits.test.ts`.
 */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #framing = new Framing();
  /** The parser's own listeners. */
  readonly #parse: (slice: Bytes) => void;
  readonly #parseEnd: () => void;
  #unparsed: Bytes | undefined;
  #latest: ServerResponse | undefined;
  /** Whether the body of the latest request is not wanted: its caller is not known yet, or the body is too large. */
  #isBodyUnwanted = false;
  /** The time when the body became wanted after all, of `performance.now()`. */
  #bodyWantedAt = Number.NEGATIVE_INFINITY;
  /** The time of the last answer, or of the beginning, of `performance.now()`. */
  #answeredAt = performance.now();
  /** Whether the latest request came soon after an answer. */
  #isBusy = false;
  #turnLeft = TURN_BYTES;
  #waitsForTurn = false;
  /** Whether the client has closed its side and an answer is due. */
  #ended = false;
  /** Whether further bytes are thrown away. */
  #stopped = false;
  #thrownAway = 0;
  /** Bytes that the kernel has taken; after the end of the server's side, also bytes that came. */
  #moved = 0;
  #movedAt = performance.now();
  /** The time when the server's side had ended, of `performance.now()`. */
  #endedAt: number | undefined;

  /** Takes over from the listeners that the HTTP server has put on the socket. */
  constructor(socket: Socket) {
    const parse = socket.listeners('data').at(-1);
    const parseEnd = socket.listeners('end').at(-1);
    if (parse === undefined || parseEnd === undefined) {
      throw new Error('Cannot take over: the HTTP server does not listen');
    }
    this.#socket = socket;
    this.#parse = parse.bind(socket);
    this.#parseEnd = parseEnd.bind(socket);
    socket.on('data', this.#take);
    socket.off('data', parse as () => void).off('end', parseEnd as () => void);
    socket.on('end', () => this.#end());
  }

  /** The answer to the latest request, due or given. */
  get latest(): ServerResponse | undefined {
    return this.#latest;
  }

  /** Whether the latest request has a body. */
  get hasBody(): boolean {
    return this.#framing.hasBody;
  }

  /** Called when the parser has made a request. @returns whether its line names HTTP (contract Order 1). */
  received(response: ServerResponse): boolean {
    this.#isBusy = this.#latest !== undefined && performance.now() - this.#answeredAt < BUSY_MS;
    this.#latest = response;
    response.on('close', this.#goOn);
    const isHttp = this.#framing.received(response.req);
    if (this.hasBody) response.req.on('resume', this.#wantBody);
    return isHttp;
  }

  /**
   * Whether the server itself did not parse since then: bytes wait for their turn, or the body was not wanted.
   *
   * @param since of `performance.now()`.
   */
  stoodStillSince(since: number): boolean {
    return (
      this.#unparsed !== undefined ||
      this.#isBodyUnwanted ||
      (!this.#isAnswered() && this.#bodyWantedAt > since)
    );
  }

  /** Ends the parsing: further bytes are thrown away. */
  stop(): void {
    this.#stopped = true;
    this.#unparsed = undefined;
    this.#socket.resume();
  }

  /** Ends the answer to the latest request, which is the last, and lingers. */
  endLast(response: ServerResponse, body: string | Buffer | undefined): void {
    // Node.js calls `destroySoon` behind a last answer.
    this.#socket.destroySoon = () => this.#socket.end();
    response.end(body);
    this.stop();
  }

  /**
   * Closes a connection on which nothing is under way, begun or waiting, half a second after its only answer, or two
   * seconds after the last one of a client that asks again and again; and one that lingers two seconds after its answer.
   *
   * @param now of `performance.now()`.
   */
  closeIdle(now: number): void {
    const isIdle = this.#isAnswered() && this.#framing.isBetweenMessages && this.#unparsed === undefined;
    const patience = this.#isBusy || this.#stopped ? BUSY_MS : IDLE_MS;
    if ((isIdle || this.#socket.writableFinished) && now - this.#answeredAt >= patience)
      this.#socket.destroy();
  }

  /**
   * Closes the connection of a client that reads nothing of its answer. After its last answer a connection lingers:
   * further bytes of the client are read and thrown away for a while. A connection that is closed on unread bytes is
   * reset, and the reset destroys the answer (contract B5; RFC 9112 §9.6).
   *
   * @param now of `performance.now()`.
   */
  cutOff(now: number, { answerTimeout, lingerTimeout, silenceTimeout }: typeof LIMITS): void {
    const { writableLength, writableFinished, bytesWritten, bytesRead } = this.#socket;
    // Behind the end of the client's side, nothing but a write notices a reset.
    if (this.#ended) this.#socket.write('');
    if (writableFinished) this.#endedAt ??= now;
    const moved = bytesWritten - writableLength + (writableFinished ? bytesRead : 0);
    // A connection that waits for its turn is not silent.
    const mayWait = writableFinished ? this.#socket.isPaused() : writableLength === 0;
    if (moved !== this.#moved || mayWait) {
      this.#moved = moved;
      this.#movedAt = now;
    }
    const still = now - this.#movedAt;
    const isOver = still >= (writableFinished ? silenceTimeout : answerTimeout);
    if (isOver || now - (this.#endedAt ?? now) >= lingerTimeout) this.#socket.destroy();
  }

  readonly #take = (bytes: Bytes): void => {
    if (this.#stopped) this.#throwAway(bytes);
    else if (this.#unparsed === undefined) {
      this.#unparsed = bytes;
      // Bytes that the stream had kept share the turn in which they are taken.
      if (this.#socket.readableLength === 0) this.#turnLeft = TURN_BYTES;
      this.#pump();
    } else {
      // Node.js resumes the socket whenever it wants more of a body.
      this.#socket.pause();
      this.#socket.unshift(bytes);
    }
  };

  /** Parses the bytes that may be parsed now. To be called after every change that `#mayParse` depends on. */
  readonly #pump = (): void => {
    if (this.#unparsed === undefined && !this.#ended) return;
    while (this.#unparsed !== undefined && this.#mayParse()) this.#parseSlice(this.#unparsed);
    if (this.#unparsed === undefined) {
      if (this.#socket.isPaused()) this.#socket.resume();
      if (this.#ended) this.#end();
    } else if (this.#turnLeft === 0) this.#waitForTurn();
    const { req } = this.#latest ?? {};
    this.#isBodyUnwanted = req?.complete === false && !isWanted(req);
  };

  readonly #goOn = (): void => {
    this.#answeredAt = performance.now();
    this.#pump();
  };

  readonly #wantBody = (): void => {
    if (this.#isBodyUnwanted) this.#bodyWantedAt = performance.now();
    this.#isBodyUnwanted = false;
    this.#pump();
  };

  /** Waits for the next turn of the event loop; a second wait in one turn would double its bytes. */
  #waitForTurn(): void {
    if (this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    setImmediate(() => {
      this.#waitsForTurn = false;
      this.#turnLeft = TURN_BYTES;
      this.#pump();
    });
  }

  #mayParse(): boolean {
    if (this.#turnLeft === 0 || !this.#socket.writable) return false;
    const { req } = this.#latest ?? {};
    return this.#isAnswered() || (req?.complete === false && isWanted(req));
  }

  #parseSlice(bytes: Bytes): void {
    const slice = this.#framing.sliceOf(
      bytes.length > this.#turnLeft ? bytes.subarray(0, this.#turnLeft) : bytes,
    );
    this.#unparsed = slice.length < bytes.length ? bytes.subarray(slice.length) : undefined;
    this.#turnLeft -= slice.length;
    this.#parse(slice);
  }

  /** Handles the end of the client's side. Requests that are complete before it are answered (RFC 9112 §9.6). */
  #end(): void {
    const isAnswering = !this.#isAnswered() && this.#latest?.req.complete === true;
    this.#ended = this.#unparsed !== undefined || isAnswering;
    if (!this.#ended && !this.#stopped) this.#parseEnd();
  }

  /** Whether the latest answer is out: Node.js takes the socket from it then. */
  #isAnswered(): boolean {
    return this.#latest === undefined || this.#latest.socket === null;
  }

  #throwAway({ length }: Buffer): void {
    this.#thrownAway += length;
    if (this.#thrownAway > LINGER_BYTES) this.#socket.destroy();
    this.#socket.pause();
    throwingAway = throwingAway.then(nextTurn).then(() => {
      this.#socket.resume();
    });
  }
}

/** Whether the body is being read. */
function isWanted({ readableFlowing }: IncomingMessage): boolean {
  return readableFlowing === true;
}
