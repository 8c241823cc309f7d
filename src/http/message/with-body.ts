import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { say } from '../../problem/doors.ts';
import type { Problem } from '../../problem/problem.ts';
import type { Body } from './body.ts';
import { readJsonObject } from './json.ts';
import { isJson } from './media-type.ts';
import { bodyOf } from './receive.ts';

/** A handler that has sent its reply before it returns need not return it. */
type Handled = FastifyReply | undefined;

/**
 * A handler of an endpoint without a request body: a body and its type are ignored, and the size limit holds
 * (contract B1).
 */
export function withoutBody(
  handle: (request: FastifyRequest, reply: FastifyReply) => Handled | Promise<Handled>,
) {
  return (request: FastifyRequest, reply: FastifyReply): Handled | Promise<Handled> => {
    if (request.received === null) return handle(request, reply);
    return onceReceived(request, reply, (body) =>
      body === 'too-large' ? say(reply, { status: 413 }) : handle(request, reply),
    );
  };
}

/** What a parser makes of a JSON object: a value of its type, or sentences by member name. */
export type Parsed<T> =
  | { readonly value: T }
  | { readonly errors: Readonly<Record<string, readonly string[]>> };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A handler that gets its request's body parsed (contract, Order of checks 4). Media type → 415, size → 413,
 * not a JSON object → 400, a broken rule → 400 with `errors`.
 */
export function withJson<T>(
  parse: (body: object) => Parsed<T>,
  handle: (body: T, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    if (!acceptsContent(request.headers)) return say(reply, { status: 415 });
    return onceReceived(request, reply, (body) => {
      const read = readObject(body);
      if ('problem' in read) return say(reply, read.problem);
      const parsed = parse(read.object);
      if ('value' in parsed) return handle(parsed.value, request, reply);
      const title = 'One or more validation errors occurred.';
      return say(reply, { status: 400, title, errors: parsed.errors });
    });
  };
}

/** Goes on with a request's body: at once, unless the client waits for a 100. */
function onceReceived<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  go: (body: Body) => T | Promise<T>,
): T | Promise<T> {
  const body = bodyOf(request, reply);
  return body instanceof Promise ? body.then(go) : go(body);
}

/** JSON and not compressed (contract B2; RFC 9110 §8.4). */
function acceptsContent(headers: IncomingHttpHeaders): boolean {
  return isJson(headers['content-type']) && headers['content-encoding'] === undefined;
}

function readObject(body: Body): { readonly object: object } | { readonly problem: Problem } {
  if (body === 'too-large') return { problem: { status: 413 } };
  const text = decode(body);
  if (text === undefined) return malformed('The body is not valid UTF-8.');
  const read = readJsonObject(text);
  if ('object' in read) return read;
  const { line, column, problem } = read.fault;
  return malformed(`The body is not acceptable JSON. Line ${line}, column ${column}: ${problem}`);
}

/** The text of a body, a leading byte order mark skipped; undefined when it is not UTF-8 (contract B3). */
function decode(body: Buffer): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

function malformed(detail: string): { readonly problem: Problem } {
  return { problem: { status: 400, detail } };
}
