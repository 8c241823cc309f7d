import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { within } from '../../promises.ts';
import { announcesBody, Framing } from './framing.ts';

type Bytes = Buffer<ArrayBuffer>;

/** Bytes of one connection that are parsed in one turn of the event loop: the turn is everybody's. */
const TURN_BYTES = 4 * 1024;

/** What is still coming behind a last answer is read and thrown away for at most so long and so far (contract B5). */
const LINGER_MS = 1_000;
const LINGER_BYTES = 1024 * 1024;

const CRLF = Buffer.from('\r\n');

/**
 * One connection of a client. One request of it is under way; what comes behind it is not parsed until its answer is out
 * (contract D10). TCP holds the client back.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #framing = new Framing();
  /** The parser's own listeners. */
  readonly #parse: (slice: Bytes) => void;
  readonly #parseEnd: () => void;
  /** What has come and is not parsed. */
  #unparsed: Bytes | undefined;
  #latest: ServerResponse | undefined;
  /** Whether the body of the latest request is not wanted: its caller is not known yet, or it is too large. */
  #isBodyUnwanted = false;
  /** When it was wanted after all, of `performance.now()`. */
  #bodyWantedAt = Number.NEGATIVE_INFINITY;
  #turnLeft = TURN_BYTES;
  #waitsForTurn = false;
  #ended = false;
  /** Whether what comes is thrown away. */
  #stopped = false;
  #thrownAway = 0;
  readonly #enough = Promise.withResolvers<void>();
  #taken = 0;
  #takenAt = performance.now();

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

  /**
   * The parser has made a request.
   *
   * @returns whether its line names HTTP (contract, Order of checks 1).
   */
  received(response: ServerResponse): boolean {
    this.#latest = response;
    response.on('close', this.#pump);
    if (announcesBody(response.req)) response.req.on('resume', this.#wantBody);
    return this.#framing.received(response.req);
  }

  /**
   * Whether the client is not to blame for what was not parsed since then: bytes wait for their turn, or its body was not
   * wanted.
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

  /** Parses nothing any more: what comes is thrown away. */
  stop(): void {
    this.#stopped = true;
    const rest = this.#unparsed;
    this.#unparsed = undefined;
    if (rest !== undefined) this.#throwAway(rest);
    this.#socket.resume();
  }

  /**
   * Ends the answer to the latest request, which is the last. What the client is still sending is read on and thrown away,
   * to the end of the body, for at most 1 s or 1 MiB: a connection that is closed on unread bytes is reset, and the reset
   * destroys the answer (RFC 9112 §9.6; contract B5).
   */
  endLast(response: ServerResponse, body: string | Buffer | undefined): void {
    if (!this.#expectsMore(response)) {
      response.end(body);
      return;
    }
    if (body === undefined) response.flushHeaders();
    else response.write(body);
    this.stop();
    this.#socket.once('end', this.#enough.resolve).once('close', this.#enough.resolve);
    within(LINGER_MS, this.#enough.promise, undefined).then(() => response.end());
  }

  /** Closes a connection on which nothing is under way, begun or waiting. */
  closeIdle(): void {
    const isIdle = this.#isAnswered() && this.#framing.isBetweenMessages && this.#unparsed === undefined;
    if (isIdle) this.#socket.destroy();
  }

  /**
   * Closes the connection of a client that reads nothing of its answer.
   *
   * @param now of `performance.now()`. @param patienceMs since the kernel last took a byte.
   */
  cutOffStalled(now: number, patienceMs: number): void {
    const { writableLength, bytesWritten } = this.#socket;
    const taken = bytesWritten - writableLength;
    if (writableLength === 0 || taken !== this.#taken) {
      this.#taken = taken;
      this.#takenAt = now;
    } else if (now - this.#takenAt >= patienceMs) this.#socket.destroy();
  }

  readonly #take = (bytes: Bytes): void => {
    if (this.#stopped) this.#throwAway(bytes);
    else if (this.#unparsed === undefined) {
      this.#unparsed = bytes;
      // What the stream had kept shares the turn in which it is taken.
      if (this.#socket.readableLength === 0) this.#turnLeft = TURN_BYTES;
      this.#pump();
    } else {
      // Node.js resumes the socket whenever it wants more of a body.
      this.#socket.pause();
      this.#socket.unshift(bytes);
    }
  };

  /** Parses what may be parsed now. To be called after whatever may change what `#mayParse` says. */
  readonly #pump = (): void => {
    if (this.#unparsed === undefined && !this.#ended) return;
    while (this.#unparsed !== undefined && this.#mayParse()) this.#parseSlice(this.#unparsed);
    if (this.#unparsed === undefined) {
      if (this.#socket.isPaused()) this.#socket.resume();
      if (this.#ended) this.#end();
    } else {
      this.#socket.pause();
      if (this.#turnLeft === 0) this.#waitForTurn();
    }
    const { req } = this.#latest ?? {};
    this.#isBodyUnwanted = req?.complete === false && !isWanted(req);
  };

  readonly #wantBody = (): void => {
    if (this.#isBodyUnwanted) this.#bodyWantedAt = performance.now();
    this.#isBodyUnwanted = false;
    this.#pump();
  };

  /** Once for each turn: two that wait would take two turns in one. */
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

  /** A client that closes its side is gone. What it has sent before is answered. */
  #end(): void {
    const isAnswering = !this.#isAnswered() && this.#latest?.req.complete;
    this.#ended = this.#unparsed !== undefined || (this.#ended && isAnswering === true);
    if (!this.#ended && !this.#stopped) this.#parseEnd();
  }

  /** Node.js takes the socket from an answer when all of it is out. */
  #isAnswered(): boolean {
    return this.#latest === undefined || this.#latest.socket === null;
  }

  /** Whether something may come that belongs to the latest request, or follows it and is no empty line (RFC 9112 §2.2). */
  #expectsMore({ req }: ServerResponse): boolean {
    if (!req.complete && announcesBody(req)) return true;
    return this.#unparsed !== undefined && !this.#unparsed.equals(CRLF);
  }

  #throwAway({ length }: Buffer): void {
    this.#thrownAway += length;
    const isBody = this.#thrownAway === this.#framing.bodyLeft;
    if (isBody || this.#thrownAway > LINGER_BYTES) this.#enough.resolve();
  }
}

/** Somebody reads the body. */
function isWanted({ readableFlowing }: IncomingMessage): boolean {
  return readableFlowing === true;
}
