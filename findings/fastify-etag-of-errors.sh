#!/bin/sh
# @fastify/etag 6.2.0 with Fastify 5.12.8, beside hono 4.13.19 with its etag() (npm): If-None-Match with the tag of the last answer.
# Guess: a read is a 304; a 404, a 500 and a POST stay what they are, since a precondition counts only where the answer would be
# 2xx, and makes a 304 of GET and HEAD alone (RFC 9110 §13.1.2, §13.2.1).
# Seen: @fastify/etag gives each of them a tag, and then makes a 304 of a problem that is a 404, of a 500, and of a POST that it
# has carried out. Of a list with the tag, and of *, it makes none. hono does as guessed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @fastify/etag@6.2.0 fastify@5.12.8 hono@4.13.19
cat >look.mjs <<'JS'
import fastifyEtag from '@fastify/etag';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { etag } from 'hono/etag';

const problem = { title: 'Not Found', status: 404 };
const fastify = Fastify();
await fastify.register(fastifyEtag);
fastify.get('/todos/1', async () => ({ id: 1 }));
fastify.post('/todos', async (_request, reply) => reply.code(201).send({ id: 2 }));
fastify.get('/todos/3', async (_request, reply) => reply.code(404).type('application/problem+json').send(JSON.stringify(problem)));
fastify.get('/crash', async () => { throw new Error('no milk'); });

const hono = new Hono();
hono.use(etag());
hono.onError((_error, context) => context.json({ title: 'Error' }, 500));
hono.get('/todos/1', (context) => context.json({ id: 1 }));
hono.post('/todos', (context) => context.json({ id: 2 }, 201));
hono.get('/todos/3', (context) => context.json(problem, 404, { 'content-type': 'application/problem+json' }));
hono.get('/crash', () => { throw new Error('no milk'); });

const libraries = {
  '@fastify/etag': async (method, url, headers) => {
    const answer = await fastify.inject({ method, url, headers });
    return { status: answer.statusCode, tag: answer.headers.etag };
  },
  hono: async (method, path, headers) => {
    const answer = await hono.request(path, { method, headers });
    return { status: answer.status, tag: answer.headers.get('etag') };
  },
};
for (const [name, ask] of Object.entries(libraries)) {
  for (const [method, path] of [['GET', '/todos/1'], ['GET', '/todos/3'], ['GET', '/crash'], ['POST', '/todos']]) {
    const first = await ask(method, path, {});
    const said = [];
    for (const value of [first.tag ?? '"a"', `"a", ${first.tag ?? '"b"'}`, '*']) said.push((await ask(method, path, { 'if-none-match': value })).status);
    console.log(`${name}: ${method} ${path} ${first.status}; with the tag ${said[0]}, in a list ${said[1]}, with * ${said[2]}`);
  }
}
JS
echo "Node.js $(node --version), @fastify/etag 6.2.0, Fastify 5.12.8, hono 4.13.19"
node look.mjs | tee seen
grep -qx '@fastify/etag: GET /todos/1 200; with the tag 304, in a list 200, with \* 200' seen
grep -qx '@fastify/etag: GET /todos/3 404; with the tag 304, in a list 404, with \* 404' seen
grep -q '^@fastify/etag: GET /crash 500; with the tag 304' seen
grep -q '^@fastify/etag: POST /todos 201; with the tag 304' seen
grep -qx 'hono: GET /todos/1 200; with the tag 304, in a list 304, with \* 304' seen
for kept in 'GET /todos/3 404; with the tag 404' 'GET /crash 500; with the tag 500' 'POST /todos 201; with the tag 201'; do grep -q "^hono: $kept" seen; done
