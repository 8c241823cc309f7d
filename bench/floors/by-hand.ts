import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { audience, database, host, issuer, keyText, port } from '../peers/settings.ts';
import { FIND } from '../peers/sql.ts';

/**
 * What somebody writes who wants one thing fast and nothing else: a token is verified once and remembered by
 * its text, the row comes from SQLite, and no rule about paths, bodies or errors is looked at.
 */
const find = new DatabaseSync(database).prepare(FIND);
const expiries = new Map<string, number>();

/** Seconds since 1970 at which this HS256 token ends; 0 when it is not one of ours. */
function expiryOf(authorization: string): number {
  const known = expiries.get(authorization);
  if (known !== undefined) return known;
  const [header = '', payload = '', signature = ''] = authorization.slice('Bearer '.length).split('.');
  const wanted = createHmac('sha256', keyText).update(`${header}.${payload}`).digest();
  const sent = Buffer.from(signature, 'base64url');
  if (sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) return 0;
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const expiry = claims.iss === issuer && claims.aud === audience ? claims.exp : 0;
  if (expiry > 0) expiries.set(authorization, expiry);
  return expiry;
}

createServer((request, response) => {
  if (expiryOf(request.headers.authorization ?? '') <= Date.now() / 1000) {
    response.writeHead(401).end();
    return;
  }
  const row = find.get(Number(request.url?.slice('/todos/'.length)));
  if (row === undefined) {
    response.writeHead(404).end();
    return;
  }
  const { id, title, done, category_id: categoryId } = row;
  const body = JSON.stringify({ id, title, done: done === 1, categoryId });
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}).listen(port, host);
