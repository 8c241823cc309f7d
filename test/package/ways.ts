import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Sign, signer } from '../../packages/conformance/src/sign.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { freePort } from '../support/folder.ts';
import type { Finished, Serving } from '../support/start.ts';
import { startReceiver } from '../telemetry/receiver.ts';

type Variables = Readonly<Record<string, string>>;

/** A way to run the service: as an executable, from an image, from a package of a distribution. */
export interface Way {
  /** Starts it in production on a free port. */
  serve(env: Variables): Promise<Serving>;
  /** Runs a command to its end. */
  run(args: readonly string[], env?: Variables): Promise<Finished>;
  /** A folder where the service may write, by the path that it sees. */
  readonly folder: string;
  /** Writes a file of secrets for the service alone, and gives the path by which the service reads it. */
  keepSecret(content: string): Promise<string>;
}

const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(32) };

/** Registers the tests of what a user of any way relies on. `way` is called when they run. */
export function servesAsInstalled(way: () => Way): void {
  let variables: Variables = {};
  let sign: Sign;
  let postgres: PostgresServer;

  before(async () => {
    variables = {
      TODO_AUTH_ISSUER: auth.issuer,
      TODO_AUTH_AUDIENCE: auth.audience,
      TODO_AUTH_SECRET_FILE: await way().keepSecret(`base64:${auth.secret.toString('base64')}\n`),
    };
    sign = signer(auth);
    postgres = await PostgresServer.start();
  });
  after(() => postgres[Symbol.asyncDispose]());

  test('serves the error demo, and stops at SIGHUP', async () => {
    await using service = await way().serve({ TODO_PROFILE: 'error-demo' });
    const complete = () => fetch(`${service.baseUrl}/todos/1/complete`, { method: 'POST' });
    assert.equal((await complete()).status, 200);
    const again = await complete();
    assert.equal(again.headers.get('content-type'), 'application/problem+json');
    assert.equal(again.status, 409);
    assert.equal(await service.stop('SIGHUP'), 0, service.stdout());
  });

  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    test(`finds a todo in ${engine} that it created before it was killed, and stops at SIGTERM`, async () => {
      const database = engine === 'SQLite' ? {} : { TODO_DATABASE: await postgres.makeDatabase() };
      const env = { ...variables, ...database };
      const token = sign({ name: 'ada', role: 'editor' });
      {
        await using service = await way().serve(env);
        await create(service, token);
        await service.stop('SIGKILL');
      }
      await using service = await way().serve(env);
      await read(service, token);
      assert.equal(await service.stop(), 0, service.stdout());
    });
  }

  test('sends traces', async () => {
    await using receiver = await startReceiver();
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, TODO_PROFILE: 'error-demo' };
    await using service = await way().serve(traces);
    await fetch(`${service.baseUrl}/todos/1`);
    await service.stop();
    assert.ok(await receiver.span(({ name }) => name === 'GET /todos/:id'));
  });

  test('tells by "healthcheck" whether it can answer', async () => {
    // One that nobody else is given when the service has stopped.
    const admin = { TODO_ADMIN_PORT: String(await freePort()) };
    await using service = await way().serve({ TODO_PROFILE: 'error-demo', ...admin });
    const healthcheck = () => way().run(['healthcheck'], admin);
    const ready = await healthcheck();
    assert.equal(ready.code, 0, ready.stderr);
    await service.stop();
    assert.equal((await healthcheck()).code, 1);
  });

  test('explains each of its commands', async () => {
    const { stdout: help } = await way().run(['--help']);
    const commands = Array.from(help.matchAll(/^ {2}(\w+(?: \w+)?) {2,}/gm), ([, words = '']) => words);
    assert.ok(commands.includes('serve') && commands.includes('token create'));
    for (const command of commands) {
      const { code, stdout } = await way().run([...command.split(' '), '--help']);
      assert.ok(stdout.startsWith(`Usage: todo-service ${command} `), command);
      assert.equal(code, 0);
    }
  });

  test('checks and copies a SQLite database, and migrates one of PostgreSQL', async () => {
    for (const [args, env] of [
      [['migrate'], {}],
      [['check'], {}],
      [['backup', `${way().folder}/copy`], {}],
      [['migrate'], { TODO_DATABASE: await postgres.makeDatabase() }],
    ] as const) {
      const { code, stdout, stderr } = await way().run(args, env);
      assert.equal(code, 0, `${args}: ${stdout}${stderr}`);
    }
  });
}

/** Creates the first todo of an empty list. */
export async function create({ baseUrl }: Serving, token: string): Promise<void> {
  const created = await fetch(`${baseUrl}/todos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Buy milk', categoryId: 2 }),
  });
  assert.equal(created.status, 201, await created.clone().text());
  assert.equal(created.headers.get('location'), '/todos/1');
}

/** Finds it, by itself and in the list. */
export async function read({ baseUrl }: Serving, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const todo = { id: 1, title: 'Buy milk', done: false, categoryId: 2 };
  assert.deepEqual(await (await fetch(`${baseUrl}/todos/1`, { headers })).json(), todo);
  assert.deepEqual(await (await fetch(`${baseUrl}/todos`, { headers })).json(), [todo]);
}
