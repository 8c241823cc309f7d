import type { FastifyReply } from 'fastify';
import { Pieces } from './pieces.ts';

/** The media type of every success that has a body (contract D4). */
export const JSON_UTF_8 = 'application/json; charset=utf-8';

/** A success with a JSON body (contract D4). `Accept` never changes it (contract N5). */
export function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return sendJsonText(reply, JSON.stringify(value));
}

/** As `sendJson`, for JSON that is already written. */
export function sendJsonText(reply: FastifyReply, json: string | Buffer | Pieces): FastifyReply {
  return reply.header('Content-Type', JSON_UTF_8).send(json);
}

/** As `sendJson`, for JSON that is there in pieces. */
export function sendJsonPieces(reply: FastifyReply, pieces: readonly Buffer[]): FastifyReply {
  const [only, ...others] = pieces;
  if (only !== undefined && others.length === 0) return sendJsonText(reply, only);
  reply.header(
    'Content-Length',
    pieces.reduce((sum, { length }) => sum + length, 0),
  );
  return sendJsonText(reply, new Pieces(pieces));
}
