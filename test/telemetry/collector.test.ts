import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { readConfig } from '../../src/server/config.ts';
import { CERTIFICATE, TLS } from '../auth/connect-proxy.ts';
import { listen } from '../support/folder.ts';
import { startService } from '../support/start.ts';

const BASE = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const ALONE = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const TIMEOUT = 'OTEL_EXPORTER_OTLP_TIMEOUT';

type Variables = Readonly<Record<string, string>>;

/** A service sends a span until `isOver`: what its line of the start shows, and why spans were not sent. */
async function sendOne(variables: Variables, isOver = () => false) {
  const env = { OTEL_BSP_SCHEDULE_DELAY: '20', ...variables };
  await using service = await startService({ profile: 'error-demo', env });
  await (await fetch(`${service.baseUrl}/todos/1`)).text();
  const event = (name: string) => {
    const lines = service.stdout().split('\n');
    return JSON.parse(lines.find((line) => line.includes(`"event":"${name}"`)) ?? '{}');
  };
  while (!isOver() && event('traces-not-sent').reason === undefined) await pause(10);
  assert.equal(await service.stop(), 0);
  const { reason = '' }: { reason?: string } = event('traces-not-sent');
  return { shown: event('started').traces, reason, log: service.stdout() + service.stderr() };
}

/** A collector by HTTP/1.1 that keeps the targets and credentials of what it is asked. Owned: `await using`. */
async function startCollector(answer: RequestListener = (_, response) => response.end('{}')) {
  const asked: { readonly target: string; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ target: `${request.method} ${request.url}`, authorization: request.headers.authorization });
    request.resume().on('end', () => answer(request, response));
  });
  return { host: await started(server), asked, [Symbol.asyncDispose]: () => closed(server) };
}

const sockets = new WeakMap<Server, Set<Socket>>();

async function started(server: Server): Promise<string> {
  const open = new Set<Socket>();
  sockets.set(server, open);
  server.on('connection', (socket: Socket) => open.add(socket));
  return `127.0.0.1:${await listen(server)}`;
}

async function closed(server: Server): Promise<void> {
  server.close();
  for (const socket of sockets.get(server) ?? []) socket.destroy();
  await once(server, 'close');
}

describe('The collector of traces', { concurrency: 2 }, () => {
  for (const [variables, path, query = ''] of [
    [{ [BASE]: 'http://HOST' }, '/v1/traces'],
    [{ [BASE]: 'http://HOST/v1/traces/otlp/' }, '/v1/traces/otlp/v1/traces'],
    [{ [BASE]: 'http://HOST/otlp?key=s3cr3t' }, '/otlp/v1/traces', '?key=s3cr3t'],
    [{ [ALONE]: 'http://HOST' }, '/'],
    [{ [ALONE]: 'http://HOST/custom/?key=s3cr3t' }, '/custom/', '?key=s3cr3t'],
    [{ [BASE]: 'http://127.0.0.1:9/v1/traces', [ALONE]: 'http://HOST/a' }, '/a'],
  ] as const satisfies readonly (readonly [Variables, string, string?])[]) {
    test(`with ${JSON.stringify(variables)} spans are posted to ${path}, and the start shows it [D17]`, async () => {
      await using collector = await startCollector();
      const env = Object.entries(variables).map(([name, value]) => [
        name,
        value.replace('HOST', collector.host),
      ]);
      const { shown, reason, log } = await sendOne(Object.fromEntries(env), () => collector.asked.length > 0);
      assert.equal(shown, `http://${collector.host}${path}`);
      assert.deepEqual([collector.asked.map(({ target }) => target), reason], [[`POST ${path}${query}`], '']);
      assert.doesNotMatch(log, /s3cr3t/);
    });
  }

  test('user and password reach the collector, and no line [D17]', async () => {
    await using collector = await startCollector();
    const { shown, log } = await sendOne(
      { [BASE]: `http://ada:s3cr3t@${collector.host}` },
      () => collector.asked.length > 0,
    );
    assert.equal(shown, `http://${collector.host}/v1/traces`);
    assert.deepEqual(collector.asked, [
      { target: 'POST /v1/traces', authorization: `Basic ${btoa('ada:s3cr3t')}` },
    ]);
    assert.doesNotMatch(log, /s3cr3t|ada:/);
  });

  for (const [address, shown] of [
    ['http://c:4318/v1/traces', 'http://c:4318/v1/traces'],
    ['http://c:4318/v1/traces/', 'http://c:4318/v1/traces/'],
    ['http://c:4318/otlp/v1/traces//', 'http://c:4318/otlp/v1/traces//'],
    ['https://ada:s3cr3t@c/v1/traces?key=s3cr3t', 'https://…@c/v1/traces?…'],
  ] as const) {
    test(`${address} is no base address, unless the one of traces alone is set [D17]`, async () => {
      const wanted = `must not end in "/v1/traces", which is added to it: leave it out, or set ${ALONE}`;
      await assert.rejects(readConfig({ profile: 'error-demo' }, { [BASE]: address, [ALONE]: '' }), {
        faults: [`${BASE} ${wanted}, received "${shown}"`],
      });
      const env = { [BASE]: address, [ALONE]: 'http://d:4318/v1/traces' };
      const { config } = await readConfig({ profile: 'error-demo' }, env);
      assert.equal(config.traces?.collector, 'http://d:4318/v1/traces');
    });
  }

  for (const [status, headers] of [
    [301, { location: 'http://127.0.0.1:9/' }],
    [404, {}],
    // It is asked again only where it is soon.
    [429, { 'retry-after': '3600' }],
    [503, { 'retry-after': '3600' }],
  ] as const) {
    test(`a collector that answers ${status} is said so, with its address [D17]`, async () => {
      await using collector = await startCollector((_, response) =>
        response.writeHead(status, headers).end(),
      );
      const { reason } = await sendOne({ [BASE]: `http://${collector.host}/a?key=s3cr3t` });
      assert.equal(reason, `http://${collector.host}/a/v1/traces answered ${status}`);
    });
  }

  test('a collector that is away or silent is said so, with its address [D17]', async () => {
    const away = await sendOne({ [BASE]: 'http://ada:s3cr3t@127.0.0.1:9', [TIMEOUT]: '500' });
    assert.equal(away.reason, 'http://127.0.0.1:9/v1/traces: connect ECONNREFUSED 127.0.0.1:9');
    await using collector = await startCollector(() => {});
    const { reason } = await sendOne({ [BASE]: `http://${collector.host}`, [TIMEOUT]: '500' });
    assert.equal(reason, `http://${collector.host}/v1/traces: Request timed out`);
  });

  test('a collector with a private CA is reached by OTEL_EXPORTER_OTLP_CERTIFICATE, which the reason names, and sees the certificate of the client [D27]', async () => {
    let asked = 0;
    const options = { ...TLS, ca: TLS.cert, requestCert: true };
    const collector = createHttpsServer(options, (_, response) => {
      asked += 1;
      response.end('{}');
    });
    const host = (await started(collector)).replace('127.0.0.1', 'localhost');
    const base = { [BASE]: `https://${host}` };
    const { reason } = await sendOne(base);
    assert.equal(
      reason,
      `https://${host}/v1/traces: the certificate is not trusted: self-signed certificate: name its CA in ` +
        'OTEL_EXPORTER_OTLP_CERTIFICATE',
    );
    const files = {
      OTEL_EXPORTER_OTLP_CERTIFICATE: CERTIFICATE,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: CERTIFICATE,
      OTEL_EXPORTER_OTLP_CLIENT_KEY: CERTIFICATE.replace(/pem$/, 'key'),
    };
    assert.equal((await sendOne({ ...base, ...files }, () => asked > 0)).reason, '');
    await closed(collector);
  });

  const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  const GOAWAY = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  const speaks = (behaviour: (client: Socket) => void) =>
    createSocketServer((client) => behaviour(client.on('error', () => {})));
  for (const [what, server, scheme] of [
    ['a server of HTTP/2', createHttp2Server(), 'http'],
    ['SETTINGS by TLS', createTlsServer(TLS, (client) => client.write(SETTINGS)), 'https'],
    ['SETTINGS at once', speaks((client) => client.write(SETTINGS)), 'http'],
    ['SETTINGS and the end', speaks((client) => client.end(SETTINGS)), 'http'],
    ['GOAWAY for the request', speaks((client) => client.once('data', () => client.end(GOAWAY))), 'http'],
  ] as const) {
    test(`where ${what} answers, the line asks whether it is the port of gRPC [D17]`, async () => {
      const host = (await started(server)).replace('127.0.0.1', 'localhost');
      try {
        const env = { [BASE]: `${scheme}://${host}`, NODE_EXTRA_CA_CERTS: CERTIFICATE };
        const { reason } = await sendOne(env);
        assert.ok(reason.startsWith(`${scheme}://${host}/v1/traces: `), reason);
        assert.ok(reason.endsWith(': is this the port of gRPC (4317)? That of HTTP is 4318'), reason);
      } finally {
        await closed(server);
      }
    });
  }
});
