import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { json } from '../../packages/conformance/src/http.ts';
import { makeTodo, write } from '../../packages/conformance/src/target.ts';
import { readConfig } from '../../src/server/config.ts';
import type { ConfigFaults } from '../../src/settings/read.ts';
import { sendAndLeave } from '../support/clients.ts';
import { startList, testAuth } from '../support/list.ts';
import { scrape, valuesOf } from '../support/prometheus.ts';
import { Connection } from '../support/raw.ts';
import { runProgram, startService } from '../support/start.ts';
import { type ReceivedSpan, startReceiver } from './receiver.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const MILK = { title: 'Buy milk', categoryId: 1 };

/** A list in this process that sends its spans to a receiver of its own. */
async function traced(env: Readonly<Record<string, string>> = {}, answer = '{}') {
  const receiver = await startReceiver(answer);
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '50', ...env };
  // OpenTelemetry reads some of them by itself.
  Object.assign(process.env, given);
  const list = await startList({ env: given });
  for (const name of Object.keys(given)) delete process.env[name];
  const stop = () => list[Symbol.asyncDispose]();
  return {
    receiver,
    list,
    ask: (line: string, headers: Readonly<Record<string, string>> = {}) => list.send(line, { headers }),
    /** Sends the spans that wait, too. */
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

describe('Traces', () => {
  test('a write is a server span with its token, its operation and its commit below', async () => {
    await using setup = await traced();
    const { receiver, list } = setup;
    await makeTodo(list.target);
    const server = await receiver.span(({ name }) => name === 'POST /todos');
    const token = await receiver.span(({ name }) => name === 'authenticate');
    const add = await receiver.span(({ name }) => name === 'add todos');
    const commit = await receiver.span(({ name }) => name === 'commit');
    assert.deepEqual(server.attributes, {
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'http.route': '/todos',
      'url.path': '/todos',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(list.url).port),
      'http.response.status_code': 201,
    });
    assert.equal(add.attributes['db.system.name'], 'sqlite');
    assert.match(String(server.resource['service.instance.id']), /^[0-9a-f-]{36}$/);
    assert.equal(server.kind, 2);
    assert.equal(server.resource['service.name'], 'todo-service');
    assert.equal(new Set([server, token, add, commit].map(({ traceId }) => traceId)).size, 1);
    assert.deepEqual(
      [token.parentSpanId, add.parentSpanId, commit.parentSpanId],
      [server.spanId, server.spanId, add.spanId],
    );
    assert.equal(commit.attributes['todo.commit.writes'], 1);
    assert.ok(add.start <= commit.start && commit.start <= commit.end);
  });

  test('a list has no commit below it, whatever is committed meanwhile', async () => {
    await using setup = await traced();
    const { receiver, list, ask, stop } = setup;
    const database = new DatabaseSync(join(list.dataDir, 'todos.db'));
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
      INSERT INTO todos (title, category_id) SELECT 'a', 1 FROM n`);
    database.close();
    let listed = false;
    const listing = ask('GET /todos').finally(() => {
      listed = true;
    });
    while (!listed) await makeTodo(list.target);
    await listing;
    await stop();
    const named = (name: string) => receiver.spans.filter((span) => span.name === name);
    const writes = named('add todos').map(({ spanId }) => spanId);
    assert.deepEqual(new Set(named('commit').map(({ parentSpanId }) => parentSpanId)), new Set(writes));
    assert.equal(named('commit').length, writes.length);
    assert.equal(named('list todos').length, 1);
  });

  test('a write that changed nothing has no commit below it', async () => {
    await using setup = await traced();
    const { receiver, ask, stop } = setup;
    assert.equal((await ask('DELETE /todos/7')).status, 404);
    await stop();
    const names = receiver.spans.map(({ name }) => name).sort();
    assert.deepEqual(names, ['DELETE /todos/:id', 'authenticate', 'remove todos']);
  });

  test('an operation is sent below its span even if its client has left', async () => {
    await using setup = await traced();
    const { receiver, list } = setup;
    await using connection = await Connection.open(list.url);
    using other = new DatabaseSync(join(list.dataDir, 'todos.db'));
    other.exec('BEGIN IMMEDIATE');
    const request = write(list.target, 'POST /todos', { token: list.editor, json: MILK });
    await sendAndLeave(connection.socket, request);
    const server = await receiver.span(({ name }) => name === 'POST /todos');
    other.exec('ROLLBACK');
    const add = await receiver.span(({ name }) => name === 'add todos');
    assert.equal(server.attributes['error.type'], 'aborted');
    assert.equal('http.response.status_code' in server.attributes, false);
    assert.equal(add.parentSpanId, server.spanId);
    assert.ok(add.end > server.end);
  });

  test('an operation that fails is an error of its class, and so is its request', async () => {
    await using setup = await traced();
    const { receiver, list, ask } = setup;
    rmSync(join(list.dataDir, 'todos.db'));
    let status = 0;
    while (status !== 503) ({ status } = await ask('GET /todos/1'));
    const failed = ({ attributes }: ReceivedSpan) => attributes['error.type'] !== undefined;
    const find = await receiver.span((span) => span.name === 'find todos' && failed(span));
    const server = await receiver.span((span) => span.name === 'GET /todos/:id' && failed(span));
    assert.deepEqual(find.attributes, {
      'db.system.name': 'sqlite',
      'db.operation.name': 'find',
      'db.collection.name': 'todos',
      'error.type': 'StoreBroken',
    });
    assert.equal(find.parentSpanId, server.spanId);
    assert.equal(server.attributes['error.type'], '503');
    assert.deepEqual([find.status, server.status], [2, 2]);
  });

  test('the traceId of a problem is the id of its span, within the trace of the caller', async () => {
    await using setup = await traced();
    const { receiver, ask } = setup;
    const reply = await ask('GET /todos/7', { traceparent: `00-${TRACE}-${PARENT}-01` });
    const { traceId } = json(reply) as { traceId: string };
    const span = await receiver.span(({ name }) => name === 'GET /todos/:id');
    assert.equal(traceId, `00-${span.traceId}-${span.spanId}-01`);
    assert.deepEqual([span.traceId, span.parentSpanId], [TRACE, PARENT]);
    assert.equal(span.attributes['http.response.status_code'], 404);
  });

  test('a request whose caller does not sample is not sent, and its problem says so', async () => {
    await using setup = await traced();
    const { receiver, ask } = setup;
    const reply = await ask('GET /todos/7', { traceparent: `00-${TRACE}-${PARENT}-00` });
    const { traceId } = json(reply) as { traceId: string };
    assert.match(traceId, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    await ask('GET /me');
    await receiver.span(({ name }) => name === 'GET /me');
    assert.deepEqual(
      receiver.spans.filter((span) => span.traceId === TRACE),
      [],
    );
  });

  test('a request that the ratio leaves out is not sent, whatever its caller samples, and its problem says so', async () => {
    await using setup = await traced({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    const { receiver, ask, stop } = setup;
    const reply = await ask('GET /todos/7', { traceparent: `00-${TRACE}-${PARENT}-01` });
    const { traceId } = json(reply) as { traceId: string };
    assert.match(traceId, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    await ask('GET /me');
    await stop();
    assert.deepEqual(receiver.spans, []);
  });

  test('of requests that begin a trace the ratio sends some', async () => {
    await using setup = await traced({
      OTEL_TRACES_SAMPLER_ARG: '0.5',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    });
    const { receiver, ask, stop } = setup;
    for (let request = 0; request < 100; request += 1) await ask('GET /me');
    await stop();
    const sent = receiver.spans.filter(({ name }) => name === 'GET /me').length;
    assert.ok(sent > 10 && sent < 90, `${sent} of 100`);
  });

  test('the ratio decides by the id of the caller’s trace where its flag has no say', async () => {
    await using setup = await traced({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
    const { receiver, ask, stop } = setup;
    for (const digit of ['1', 'f'])
      await ask('GET /me', { traceparent: `00-${digit}${'0'.repeat(31)}-${PARENT}-00` });
    await stop();
    assert.deepEqual([...new Set(receiver.spans.map((span) => span.traceId))], [`1${'0'.repeat(31)}`]);
  });

  test('a span with a route has its path, with the id and no more, and the tracestate of its caller [D17]', async () => {
    await using setup = await traced();
    await setup.ask('GET /TODOS/007/?secret=query', {
      traceparent: `00-${TRACE}-${PARENT}-01`,
      tracestate: 'vendor=1,other=2',
    });
    const span = await setup.receiver.span(({ name }) => name === 'GET /todos/:id');
    assert.equal(span.attributes['url.path'], '/todos/7');
    assert.equal(span.traceState, 'vendor=1,other=2');
  });

  test('a method of a stranger is an attribute of its span, and not in its name', async () => {
    await using setup = await traced();
    await setup.ask('PROPFIND /todos');
    const span = await setup.receiver.span(({ name }) => name === 'HTTP /todos');
    assert.equal(span.attributes['http.request.method'], '_OTHER');
    assert.equal(span.attributes['http.request.method_original'], 'PROPFIND');
  });

  test('spans hold nothing of an unmatched path, a query or a token [D17]', async () => {
    await using setup = await traced();
    const { receiver, list } = setup;
    await list.send('GET /secret-path?secret=query', { token: 'secret-token' });
    const span = await receiver.span(({ name }) => name === 'GET');
    assert.equal(span.attributes['http.response.status_code'], 404);
    for (const name of ['url.path', 'server.address', 'server.port'])
      assert.equal(span.attributes[name], undefined);
    assert.doesNotMatch(
      JSON.stringify(receiver.spans, (_, value) => (typeof value === 'bigint' ? '' : value)),
      /secret/,
    );
  });

  test('spans that wait when the service stops are sent, whither the line of its start says [D17]', async () => {
    await using receiver = await startReceiver();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '600000' };
    await using service = await startService({ profile: 'error-demo', env });
    assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);
    assert.equal(await service.stop(), 0);
    assert.ok(service.stdout().includes(`"traces":"${receiver.url}/v1/traces"`));
    await receiver.span(({ name }) => name === 'GET /todos/:id');
    assert.equal(receiver.spans.length, 1);
  });

  test('standard variables name the service and keep requests out', async () => {
    await using setup = await traced({
      OTEL_SERVICE_NAME: 'todos-eu',
      OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=eu-1,',
      OTEL_TRACES_SAMPLER: 'traceidratio',
    });
    await setup.ask('GET /me');
    const span = await setup.receiver.span(({ name }) => name === 'GET /me');
    assert.equal(span.resource['service.name'], 'todos-eu');
    assert.equal(span.resource['service.instance.id'], 'eu-1');

    await using silent = await traced({ OTEL_TRACES_SAMPLER: 'always_off' });
    await silent.ask('GET /me');
    await silent.stop();
    assert.deepEqual(silent.receiver.spans, []);
  });

  test('a collector that is down costs a line for each reason, one more at the stop, and neither a request nor the stop', async () => {
    await using setup = await traced({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      TODO_ADMIN_PORT: '0',
    });
    const { list, ask, stop } = setup;
    const told = () => list.lines(/^traces-/).map(({ event, level, reason }) => ({ event, level, reason }));
    const counted = async () => valuesOf(await scrape(list.adminUrl), 'todo_spans_lost_total')[0] ?? 0;
    while (told().length === 0) {
      assert.equal((await ask('GET /me')).status, 200);
      await pause(10);
    }
    for (let more = 0; more < 10; more += 1) {
      assert.equal((await ask('GET /me')).status, 200);
      await pause(30);
    }
    assert.ok((await counted()) > 0);
    await stop();
    const [last, ...begun] = told().reverse();
    assert.deepEqual(last, { event: 'traces-lost', level: 40, reason: undefined });
    // On a busy machine the limit of time is a second reason.
    const reasons = new Set(begun.map(({ reason }) => reason));
    const expected = Array.from(reasons, (reason) => ({ event: 'traces-not-sent', level: 40, reason }));
    assert.deepEqual(begun, expected);
    // Each request has a span, and one of its token below it.
    assert.ok(Number(list.lines(/^traces-lost/)[0]?.spans) >= 20);
  });

  test('spans for which the queue has no room are counted, and told of', async () => {
    await using setup = await traced({ OTEL_BSP_MAX_QUEUE_SIZE: '1', OTEL_BSP_SCHEDULE_DELAY: '600000' });
    const { list, ask, stop } = setup;
    for (let request = 0; request < 3; request += 1) await ask('GET /me');
    await stop();
    const [first, last] = list.lines(/^traces-/);
    assert.match(String(first?.reason), /OTEL_BSP_MAX_QUEUE_SIZE/);
    const arrived = setup.receiver.spans.length;
    assert.equal(last?.spans, 6 - arrived);
  });

  test('spans that a collector rejects of a batch that it takes are counted, with what it says of them', async () => {
    const partialSuccess = { rejectedSpans: '1', errorMessage: `no room\n${'x'.repeat(1_000)}` };
    await using setup = await traced({}, JSON.stringify({ partialSuccess }));
    const { list, ask, stop, receiver } = setup;
    await ask('GET /me');
    await receiver.span(({ name }) => name === 'GET /me');
    await stop();
    const [first, last] = list.lines(/^traces-/);
    assert.match(String(first?.reason), /^no room\nx{192}$/);
    assert.deepEqual([first?.spans, last?.event], [1, 'traces-lost']);
  });

  const forbid = (packages: string) => {
    const script = `import { registerHooks } from 'node:module';
      registerHooks({ resolve(specifier, context, next) {
        if (/^(?:${packages})/.test(specifier)) throw Object.assign(new Error('not there'), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(specifier, context);
      } });`;
    return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(script).toString('base64')}` };
  };

  test('without the settings neither metrics nor traces are loaded', async () => {
    await using service = await startService({ auth: testAuth(), env: forbid('@opentelemetry|prom-client') });
    assert.equal((await fetch(`${service.baseUrl}/todos`)).status, 401);
  });

  test('traces without their packages keep the service from starting, with one line', async () => {
    const env = { ...forbid('@opentelemetry'), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const { code, stderr } = await runProgram(['serve', '--profile', 'error-demo', '--port', '0'], { env });
    assert.equal(code, 69);
    assert.match(
      stderr,
      /^Cannot start: traces need the packages @opentelemetry\/api, .* unset OTEL_EXPORTER_OTLP_ENDPOINT: not there\n$/,
    );
  });

  test('settings that make no sense are reported together, and not where there is no endpoint [D17]', async () => {
    const otel = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_PROPAGATORS: 'b3',
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_SDK_DISABLED: '1',
      OTEL_RESOURCE_ATTRIBUTES: 'a=b,oops',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: 'abc',
      OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem',
    };
    await readConfig({ profile: 'error-demo' }, otel);
    const env = {
      ...otel,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_BSP_MAX_QUEUE_SIZE: '-1',
      TODO_SHUTDOWN_SECONDS: 'soon',
      TODO_ADMIN_PORT: '65536',
    };
    await assert.rejects(readConfig({ profile: 'error-demo' }, env), ({ faults }: ConfigFaults) => {
      const isNamed = (name: string) => faults.some((fault) => fault.startsWith(`${name} must`));
      for (const name of Object.keys(env)) assert.ok(isNamed(name), name);
      return true;
    });
  });

  for (const variable of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
    for (const [value, shown] of [
      ['http://$(HOST_IP):4318', '"http://$(HOST_IP):4318"'],
      ['http://a.example,http://b.example:4318', '"http://…"'],
    ] as const) {
      test(`${variable} is one address, and has no placeholder: ${value} [D18]`, async () => {
        const wanted = `${variable} must be one address; a placeholder needs its value, received ${shown}`;
        await assert.rejects(readConfig({ profile: 'error-demo' }, { [variable]: value }), {
          faults: [wanted],
        });
      });
    }
  }

  for (const [variable, values] of Object.entries({
    OTEL_PROPAGATORS: ['baggage,tracecontext', 'tracecontext', 'tracecontext, baggage'],
    OTEL_RESOURCE_ATTRIBUTES: ['a=b,', 'a=b%2Cc, d = e', 'a='],
    OTEL_EXPORTER_OTLP_HEADERS: ['api-key=s3cr3t'],
    OTEL_SDK_DISABLED: ['FALSE'],
    OTEL_METRICS_EXPORTER: ['console'],
  })) {
    test(`${values.map((value) => JSON.stringify(value)).join(' or ')} passes as ${variable} [D17]`, async () => {
      for (const value of values) {
        const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/otlp', [variable]: value };
        const { config } = await readConfig({ profile: 'error-demo' }, env);
        assert.equal(config.traces?.collector, 'http://collector:4318/otlp/v1/traces');
        assert.doesNotMatch(JSON.stringify(config), /s3cr3t/);
      }
    });
  }

  for (const [variable, values] of Object.entries({
    OTEL_PROPAGATORS: ['baggage', 'tracecontext,b3', 'none'],
    OTEL_RESOURCE_ATTRIBUTES: ['a', 'a=b=c', '=b', 'a=%', `a=${'x'.repeat(256)}`],
  })) {
    test(`what the service cannot do is a fault in ${variable} [D17]`, async () => {
      for (const value of values) {
        const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', [variable]: value };
        await assert.rejects(readConfig({ profile: 'error-demo' }, env), ({ faults }: ConfigFaults) => {
          assert.match(faults.join(), new RegExp(`^${variable} must be`));
          return true;
        });
      }
    });
  }
});
