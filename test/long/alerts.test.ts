import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { signer } from '../../packages/conformance/src/sign.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { freePort, temporaryFolder } from '../support/folder.ts';
import { testAuth } from '../support/list.ts';
import { authVariables, startService } from '../support/start.ts';

/** Every duration of the rules is divided by it: half a minute is a second. */
const FASTER = 30;

const CONNECTIONS = 100;

/** A machine that is busy with other things makes any process stand still, for 2 s of 20, and any answer slow. */
const OF_THE_MACHINE = ['TodoEventLoopBlocked, ticket', 'TodoSlowAnswers, ticket'];

const skip =
  spawnSync('prometheus', ['--version']).status !== 0 &&
  'there is no prometheus on the PATH: install it, on Debian with "apt-get install prometheus"';

const alerts = readFileSync(new URL('../../deploy/alerts.yaml', import.meta.url), 'utf8');
const fast = alerts.replace(/(?<=\[|offset |for: )(\d+)([mh])/g, (_, number, unit) => {
  return `${(Number(number) * (unit === 'h' ? 3_600_000 : 60_000)) / FASTER}ms`;
});

interface Alert {
  readonly state: 'pending' | 'firing';
  readonly labels: { readonly alertname: string; readonly severity: string };
}

/** A Prometheus that scrapes a service often, and judges it by the rules. Owned: `await using`. */
async function startPrometheus(folder: string, target: string) {
  await writeFile(join(folder, 'alerts.yaml'), stringify(parse(fast)));
  await writeFile(
    join(folder, 'prometheus.yaml'),
    stringify({
      // While the database stands still, /metrics waits 0.8 s for what /ready says.
      global: { scrape_interval: '1500ms', scrape_timeout: '1500ms', evaluation_interval: '500ms' },
      rule_files: ['alerts.yaml'],
      scrape_configs: [{ job_name: 'todo-service', static_configs: [{ targets: [target] }] }],
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const files = [`--config.file=${folder}/prometheus.yaml`, `--storage.tsdb.path=${folder}/data`];
  const child = spawn('prometheus', [...files, `--web.listen-address=${address}`], { stdio: 'ignore' });
  const url = `http://${address}`;
  while (!(await fetch(`${url}/-/ready`).catch(() => undefined))?.ok) await pause(100);
  return {
    /** Which alerts fire, with their severity. */
    async firing(): Promise<string[]> {
      const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as { data: { alerts: Alert[] } };
      const firing = data.alerts.filter(({ state }) => state === 'firing');
      return firing.map(({ labels }) => `${labels.alertname}, ${labels.severity}`);
    },
    /** Whether an expression has a value now. */
    async knows(query: string): Promise<boolean> {
      const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
      const { data } = (await answer.json()) as { data: { result: readonly unknown[] } };
      return data.result.length > 0;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

const ALL_WAS_WELL = 'increase(todo_token_verdicts_total{code="accepted"}[1h]) > 150';

/** A service on PostgreSQL that ten clients ask 25 times a second, and a Prometheus that has seen it well. */
async function openStage() {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  const server = parts.use(await PostgresServer.start());
  const url = await server.makeDatabase();
  const auth = testAuth();
  const trust = await authVariables(auth, folder.path);
  const env = {
    ...trust,
    TODO_DATABASE: url,
    TODO_DATABASE_CONNECTIONS: '1',
    TODO_MAX_CONNECTIONS: String(CONNECTIONS),
    TODO_ADMIN_PORT: '0',
  };
  const service = parts.use(await startService({ environment: 'production', env }));
  const sign = signer(auth);
  const valid = sign({ role: 'editor', exp: Math.floor(Date.now() / 1_000) + 36_000 });
  const clients = { token: valid, leave: false };
  async function beClient(): Promise<void> {
    const body = JSON.stringify({ title: 'Buy milk', categoryId: 1 });
    for (let nth = 0; !clients.leave; nth += 1) {
      const headers = { authorization: `Bearer ${clients.token}`, 'content-type': 'application/json' };
      const request = nth % 10 === 0 ? { method: 'POST', headers, body } : { headers };
      // A connection more may be one too many.
      const answer = await fetch(`${service.baseUrl}/todos${nth % 10 === 0 ? '' : '/1'}`, request).catch(
        () => {},
      );
      await answer?.arrayBuffer();
      await pause(400);
    }
  }
  const all = Promise.all(Array.from({ length: 10 }, beClient));
  parts.defer(async () => {
    clients.leave = true;
    await all;
  });
  const prometheus = parts.use(await startPrometheus(folder.path, new URL(service.adminUrl).host));
  // Some alerts ask whether all was well before.
  while (!(await prometheus.knows(ALL_WAS_WELL))) await pause(250);
  const owned = parts.move();
  return {
    server,
    url,
    service,
    prometheus,
    secretFile: trust.TODO_AUTH_SECRET_FILE ?? '',
    /** From now on, clients send tokens that ended ten hours ago, or good ones again. */
    turnClock: (wrong: boolean) => {
      clients.token = wrong ? sign({ exp: Math.floor(Date.now() / 1_000) - 36_000 }) : valid;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/** What is broken, and how it is mended. */
type Break = (stage: Stage) => Promise<() => unknown>;

/** Stops the process again and again, for so many milliseconds, and lets it run for so many. */
function pulse({ service }: Stage, stopMs: number, runMs: number) {
  let over = false;
  const running = (async () => {
    while (!over) {
      process.kill(service.pid, 'SIGSTOP');
      await pause(stopMs);
      process.kill(service.pid, 'SIGCONT');
      await pause(runMs);
    }
  })();
  return () => {
    over = true;
    return running;
  };
}

/** Connections that are open, kept by a request of each; beyond the limit they are closed. */
function fill({ service }: Stage, connections: number) {
  const sockets: Socket[] = [];
  const open = () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.resume().write('GET /me HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.on('close', () => sockets.splice(sockets.indexOf(socket), 1));
    sockets.push(socket);
  };
  const keep = setInterval(() => {
    for (let missing = connections - sockets.length; missing > 0; missing -= 1) open();
  }, 100);
  return () => {
    clearInterval(keep);
    for (const socket of sockets) socket.destroy();
  };
}

/** What else may be true meanwhile, and fire before the end. */
type May = readonly string[];

const BREAKS: readonly (readonly [what: string, breakIt: Break, fires: readonly string[], may?: May])[] = [
  [
    'PostgreSQL is stopped',
    async ({ server }) => {
      await server.stop();
      return () => server.startAgain();
    },
    ['TodoDatabaseErrors, page', 'TodoServerErrors, page', 'TodoServiceNotReady, page'],
    ['TodoPoolExhausted, ticket'],
  ],
  [
    'a table is locked for ever',
    async ({ server, url }) => {
      const session = await server.session(url, 'BEGIN; LOCK TABLE todos IN ACCESS EXCLUSIVE MODE');
      return () => session[Symbol.asyncDispose]();
    },
    [
      'TodoDatabaseErrors, page',
      'TodoPoolExhausted, ticket',
      'TodoServerErrors, page',
      'TodoServiceNotReady, page',
    ],
  ],
  [
    'nine tenths of the connections are taken',
    async (stage) => fill(stage, CONNECTIONS - 20),
    ['TodoConnectionsHigh, ticket'],
  ],
  [
    'more connections come than there may be',
    async (stage) => fill(stage, CONNECTIONS + 20),
    ['TodoConnectionsHigh, ticket', 'TodoConnectionsRefused, page'],
  ],
  [
    'the process is stopped',
    async ({ service }) => {
      process.kill(service.pid, 'SIGSTOP');
      return () => process.kill(service.pid, 'SIGCONT');
    },
    ['TodoServiceDown, page'],
  ],
  [
    'the process has a fifth of a core',
    async (stage) => pulse(stage, 80, 20),
    ['TodoEventLoopBlocked, page', 'TodoEventLoopBlocked, ticket'],
    ['TodoPoolExhausted, ticket'],
  ],
  [
    'a clock is ten hours off',
    async ({ turnClock }) => {
      turnClock(true);
      return () => turnClock(false);
    },
    ['TodoTokensRefused, page', 'TodoTokensRefused, ticket'],
  ],
  [
    'the file of secrets is taken away',
    async ({ secretFile }) => {
      await rename(secretFile, `${secretFile}.away`);
      return () => rename(`${secretFile}.away`, secretFile);
    },
    ['TodoKeysUnavailable, page'],
  ],
];

// Each waits most of its time.
describe('What operators are told of, when windows are a thirtieth', { skip, concurrency: 4 }, () => {
  for (const [what, breakIt, fires, may = []] of BREAKS) {
    test(`when ${what}: ${fires.join('; ')}; and all of it resolves`, async (context) => {
      await using stage = await openStage();
      const { prometheus } = stage;
      const fired = new Map<string, number>();
      let began = performance.now();
      const look = async () => {
        await pause(250);
        const now = (await prometheus.firing()).filter(
          (alert) => fires.includes(alert) || ![...OF_THE_MACHINE, ...may].includes(alert),
        );
        for (const alert of now)
          if (!fired.has(alert)) fired.set(alert, Math.round((performance.now() - began) / 100) / 10);
        return now;
      };
      const mend = await breakIt(stage);
      began = performance.now();
      while (!fires.every((alert) => fired.has(alert)) && performance.now() - began < 120_000) await look();
      await mend();
      const mended = performance.now();
      while ((await look()).length > 0 && performance.now() - mended < 120_000);
      const resolved = Math.round((performance.now() - mended) / 100) / 10;
      context.diagnostic(`fired after ${JSON.stringify([...fired])} s, all resolved after ${resolved} s`);
      assert.deepEqual([...fired.keys()].sort(), fires);
      assert.deepEqual(await look(), []);
    });
  }
});
