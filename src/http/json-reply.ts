import type { FastifyReply } from 'fastify';

/** A success with a JSON body (contract D4). `Accept` never changes it (contract N5). */
export function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return sendJsonText(reply, JSON.stringify(value));
}

/** As `sendJson`, for JSON that is already written. */
export function sendJsonText(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.header('Content-Type', 'application/json; charset=utf-8').send(json);
}
