import { once } from 'node:events';
import { connect } from 'node:net';
import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { type Running, startService } from '../test/start.ts';
import { quantile } from '../test/steadily.ts';
import { threadMicroseconds } from './process.ts';

const HELP = `Usage: node bench/audit-cost.ts [flags]

CPU microseconds that the whole service process spends on a create over 32 connections, with and without the line that
says who made it. Three services take turns: one with lines and two without, whose ratio shows how far the machine can
be trusted. Linux only. Says nothing about latency.

  --slices SLICES   of each service, in turns; default 40
`;

const { slices } = scriptFlags(HELP, { slices: 40 });
const REQUESTS_PER_CONNECTION = 200;
const CONNECTIONS = 32;
const WARM_UP_SLICES = 3;

const auth = testAuth();
const token = signer(auth)({ sub: 'auth0|5f7c8ec7c33c6c004bbafe82', name: 'Ada Lovelace', role: 'editor' });
const body = JSON.stringify({ title: 'Buy milk', categoryId: 1 });
const CREATE =
  `POST /todos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** One create after the other on a connection. */
async function createOn(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  for (let request = 0; request < REQUESTS_PER_CONNECTION; request += 1) {
    socket.write(CREATE);
    const [answer] = await once(socket, 'data');
    if (!String(answer).startsWith('HTTP/1.1 201')) throw new Error(String(answer));
  }
  socket.destroy();
}

/** CPU microseconds per create. */
async function slice({ pid, baseUrl }: Running): Promise<number> {
  const before = threadMicroseconds(pid);
  const port = Number(new URL(baseUrl).port);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => createOn(port)));
  return (threadMicroseconds(pid) - before) / (CONNECTIONS * REQUESTS_PER_CONNECTION);
}

await using on = await startService({ auth });
await using off = await startService({ auth, env: { TODO_AUDIT: 'off' } });
await using offAgain = await startService({ auth, env: { TODO_AUDIT: 'off' } });
const kinds = [on, off, offAgain].map((service) => ({ service, costs: [] as number[] }));
for (let round = -WARM_UP_SLICES; round < slices; round += 1) {
  for (let turn = 0; turn < kinds.length; turn += 1) {
    const kind = kinds[(turn + round + WARM_UP_SLICES) % kinds.length];
    const cost = kind === undefined ? 0 : await slice(kind.service);
    if (round >= 0) kind?.costs.push(cost);
  }
}
const [lines = [], none = [], noneAgain = []] = kinds.map(({ costs }) => costs);
const tenth = (costs: readonly number[]) => quantile(costs, 0.1);
const ratio = (costs: readonly number[]) => (tenth(costs) / tenth(none)).toFixed(2);
process.stdout.write(
  `a create with its line ${tenth(lines).toFixed(1)} µs, without ${tenth(none).toFixed(1)} µs: ` +
    `${ratio(lines)} times; without, again: ${ratio(noneAgain)} times\n`,
);
