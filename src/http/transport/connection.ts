import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from '../../problem/problem.ts';
import { Intake } from './intake.ts';
import { NOT_HTTP } from './look.ts';

/** Requests of one connection that are under way or whose answers are queued (contract D10). */
const MAX_OPEN = 16;

/** A request and what Node.js has found to be wrong with it. */
export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly problem: Problem | undefined;
}

type Begin = (received: Received) => void;

/**
 * One connection. Its requests may be under way together; their answers go out in order (RFC 9112 §9.3.2). Behind 16
 * that are not answered, what is parsed already waits, and no more is read until answers have left.
 */
export class Connection {
  readonly intake: Intake;
  readonly #socket: Socket;
  readonly #begin: Begin;
  /** Not answered when last looked at, oldest first. */
  readonly #open: ServerResponse[] = [];
  readonly #waiting: Received[] = [];
  #latest: ServerResponse | undefined;
  #full = false;
  #draining = false;
  #closing = false;
  #taken = 0;
  #takenAt = performance.now();

  /** @param begin Called for each request, in the order in which they come. */
  constructor(socket: Socket, begin: Begin) {
    this.#socket = socket;
    this.#begin = begin;
    this.intake = new Intake(socket);
    socket.once('close', () => this.#closed());
  }

  /** The answer to the latest request, due or given. */
  get latest(): ServerResponse | undefined {
    return this.#latest;
  }

  /** @param known What Node.js has found to be wrong with the request. */
  receive(request: IncomingMessage, response: ServerResponse, known?: Problem): void {
    if (this.#closing) {
      this.intake.stop();
      return;
    }
    this.#latest = response;
    this.intake.framing.received(request);
    const problem = this.intake.framing.isHttp ? known : NOT_HTTP;
    this.#forgetAnswered();
    if (this.#open.length >= MAX_OPEN) this.#waiting.push({ request, response, problem });
    else this.#start({ request, response, problem });
    if (this.#open.length >= MAX_OPEN) this.#stopReading();
  }

  /** Calls `go` when the answers before this one are out. Never, when the client goes away. */
  inTurn(response: ServerResponse, go: () => void): void {
    this.#forgetAnswered();
    const before = this.#open[this.#open.indexOf(response) - 1];
    if (before === undefined) go();
    else before.once('close', () => this.#socket.destroyed || this.inTurn(response, go));
  }

  /** The problem becomes the answer to the latest request, if that still waits. Says whether it does. */
  refuseWaiting(problem: Problem): boolean {
    const latest = this.#waiting.pop();
    if (latest === undefined) return false;
    this.#waiting.push({ ...latest, problem });
    return true;
  }

  /** The answer to a request that has begun is the last: nothing behind that request is done (RFC 9112 §9.6). */
  receiveNoMore(): void {
    this.#closing = true;
    this.#waiting.length = 0;
  }

  /** From now on what is not parsed was not received, once the connection is full. */
  drain(): void {
    this.#draining = true;
  }

  /** Whether the client has still to take some of an answer. */
  get isSending(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Closes a connection that nothing has come in on. */
  closeUnused(): void {
    if (this.#socket.bytesRead === 0) this.#socket.destroy();
  }

  /**
   * Closes the connection of a client that takes nothing of its answer.
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

  #start(received: Received): void {
    this.#open.push(received.response);
    this.#begin(received);
  }

  #forgetAnswered(): void {
    while (this.#open[0]?.writableFinished) this.#open.shift();
  }

  #stopReading(): void {
    if (this.#full) return;
    this.#full = true;
    this.intake.hold();
    this.#goOnAfterAnswer();
  }

  /** After a turn of the event loop, so that other connections have theirs. */
  #goOnAfterAnswer(): void {
    this.#open[0]?.once('close', () => setImmediate(() => this.#goOn()));
  }

  #goOn(): void {
    if (this.#socket.destroyed) return;
    this.#forgetAnswered();
    while (this.#open.length < MAX_OPEN) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#start(next);
    }
    if (this.#open.length >= MAX_OPEN) this.#goOnAfterAnswer();
    else if (!this.#draining) {
      this.#full = false;
      this.intake.release();
    }
  }

  /** Behind a CONNECT Node.js says `close` only of the answer whose turn it is. */
  #closed(): void {
    for (const response of this.#open) if (response.socket === null) response.emit('close');
    this.#open.length = 0;
    this.#waiting.length = 0;
  }
}
