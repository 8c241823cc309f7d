import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readCommandLine } from '../../conformance/src/command-line.ts';
import { exchange, json } from '../../conformance/src/http.ts';
import { makeTodo, send } from '../../conformance/src/target.ts';
import { listen } from '../folder.ts';
import { plainEnvironment, project } from '../package/npm.ts';
import { run } from '../package/program.ts';
import { startService } from '../start.ts';
import { type Fault, startAnother } from './another-implementation.ts';
import { auth, sharedListOf } from './target-of.ts';

const PROGRAM = fileURLToPath(new URL('../../conformance/src/main.ts', import.meta.url));
const SURROUNDINGS = { cwd: project, env: plainEnvironment };

const ours = await startService({ environment: 'development', auth });
after(() => ours[Symbol.asyncDispose]());
const target = sharedListOf(ours, 'development');
const { editor, reader } = target.tokens;
const TOKENS = ['--editor-token', editor, '--reader-token', reader];

async function todos(): Promise<unknown> {
  return json(await send(target, 'GET /todos', { token: reader }));
}

/** Runs the suite, interrupts it before it hears of its first todo, and gives its exit code. */
async function interrupted(
  interrupt: (suite: ChildProcessByStdio<null, Readable, Readable>) => void,
): Promise<number | null> {
  let made = false;
  using between = await startListener((socket) => {
    const service = connect(Number(new URL(ours.baseUrl).port), '127.0.0.1');
    socket.pipe(service);
    service
      .on('error', () => {})
      .on('data', (answer) => {
        if (!made && answer.toString('latin1').startsWith('HTTP/1.1 201')) {
          made = true;
          interrupt(suite);
        }
        socket.write(answer);
      });
    service.once('close', () => socket.end());
    socket.once('close', () => service.destroy());
  });
  const words = [PROGRAM, '--base-url', between.url.href, ...TOKENS];
  const suite = spawn(process.execPath, words, { ...SURROUNDINGS, stdio: ['ignore', 'pipe', 'pipe'] });
  await once(suite, 'close');
  return suite.exitCode;
}

// One after the other: each looks at all todos of this service.
describe('The conformance suite, and a service of ours', () => {
  test('todos are deleted also when tests fail', async () => {
    // Two editors: every test of the missing role fails, and its writes go through.
    const tokens = ['--editor-token', editor, '--reader-token', editor];
    const run = await conformance('--base-url', ours.baseUrl, ...tokens, '--only', 'spec');
    assert.equal(run.code, 1, run.output);
    assert.match(run.output, /^﹣ A2, A5 to A10 \(tokens made at will\).*# left out$/m);
    assert.deepEqual(await todos(), []);
  });

  test('todos are deleted also when a signal ends it', async () => {
    assert.equal(await interrupted((suite) => suite.kill('SIGINT')), 130);
    assert.deepEqual(await todos(), []);
  });

  test('todos are deleted also when nobody reads the report to its end', async () => {
    assert.equal(await interrupted(({ stdout }) => stdout.destroy()), 74);
    assert.deepEqual(await todos(), []);
  });

  test('it conforms, and is left as it was found; with its secret, what a token must hold is checked too', async () => {
    const before = [await makeTodo(target, 'Somebody’s'), await makeTodo(target, 'Somebody else’s')];
    const file = join(ours.dataDir, 'secret');
    await writeFile(file, `base64:${auth.secret.toString('base64')}\n`);
    const trust = ['--secret-file', file, '--issuer', auth.issuer, '--audience', auth.audience];
    const run = await conformance('--base-url', ours.baseUrl, '--environment', 'development', ...trust);
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, /^ +✔ A6 · the algorithm/m);
    assert.match(run.output, /^ +✔ A11, Authentication 7 · /m);
    assert.match(run.output, /^ℹ fail 0$/m);
    assert.deepEqual(await todos(), before);
  });

  test('an error demo conforms, and its todo is left as it was found', async () => {
    await using service = await startService({ profile: 'error-demo' });
    const run = await conformance('--base-url', `${service.baseUrl}/`, '--profile', 'error-demo');
    assert.equal(run.code, 0, run.output);
    const reply = await fetch(`${service.baseUrl}/todos/1`);
    assert.equal(((await reply.json()) as { done: boolean }).done, false);
  });

  test('one that cannot be reached, or refuses a token, is one clear message', async () => {
    const tokens = ['--editor-token', 'a.b.c', '--reader-token', 'a.b.c'];
    const command = ['--token-command', 'echo nothing >&2; false'];
    for (const [url, flags, message] of [
      [
        'http://127.0.0.1:9',
        tokens,
        /^Cannot test http:\/\/127\.0\.0\.1:9\/: connect ECONNREFUSED .*Is the service running/,
      ],
      [ours.baseUrl, tokens, /^Cannot test .*token of the editor answered 401: Bearer .*invalid_token/],
      [ours.baseUrl, command, /^Cannot test .*--name Ada --role editor: exit code 1: nothing/],
    ] as const) {
      const { code, output } = await conformance('--base-url', url, ...flags);
      assert.equal(code, 69);
      assert.match(output, message);
    }
  });
});

test('wrong usage is explained, with exit code 2', async () => {
  const secret = ['--base-url', 'http://a', '--issuer', 'x', '--audience', 'x'];
  const wrong: readonly (readonly [RegExp, ...string[]])[] = [
    [/--base-url is missing/],
    [/Unknown option '--colour'/, '--base-url', 'http://127.0.0.1:9', '--colour'],
    [/--base-url must be an http or https URL, received "127"/, '--base-url', '127'],
    [/--profile must be shared-list or error-demo, received "x"/, '--base-url', 'http://a', '--profile', 'x'],
    [/--environment must be development or production/, '--base-url', 'http://a', '--environment', 'x'],
    [/needs --editor-token and --reader-token/, '--base-url', 'http://a', '--editor-token', 'x'],
    [/--output must be text or tap or junit/, '--base-url', 'http://a', '--output', 'html'],
    [/--only must be spec, received "contract"/, '--base-url', 'http://a', '--only', 'contract'],
    [/--secret-file needs --issuer and --audience/, '--base-url', 'http://a', '--secret-file', 'x'],
    [/--secret-file: ENOENT/, ...secret, '--secret-file', '/nowhere'],
  ];
  for (const [message, ...args] of wrong) {
    const read = readCommandLine(args);
    assert.match(Object(read).wrong, message);
  }
  const run = await conformance('--colour');
  assert.equal(run.code, 2);
  assert.match(run.output, /Unknown option '--colour'/);
});

test('--help and -h explain it', async () => {
  assert.equal(readCommandLine(['-h']), 'help');
  const { code, output } = await conformance('--help');
  assert.equal(code, 0);
  assert.match(output, /Examples:/);
});

test('a service that answers everything with 200 does not conform', async () => {
  using broken = await startListener((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]');
  });
  const run = await conformance('--base-url', broken.url.href, '--profile', 'error-demo');
  assert.equal(run.code, 1, run.output);
  assert.match(run.output, /R2 · an id that is not a 32-bit integer/);
});

/** Prints `token.<name>-<role>.signed`, which the other implementation takes. */
const TOKEN_COMMAND = ['--token-command', 'f() { echo "token.$2-$4.signed"; }; f'];

const FAULTS: readonly (readonly [Fault, 'shared-list' | 'error-demo', RegExp])[] = [
  ['bare 404', 'shared-list', /✖ Errors 1 · /],
  ['one traceId for all', 'shared-list', /✖ What the service does 5, Problem Details body, /],
  ['PUT looks at the category first', 'shared-list', /✖ Order 5, Endpoints A, rule 2 · /],
  ['role in other letters', 'shared-list', /✖ Authentication 3 · /],
  [
    'todo without done',
    'shared-list',
    // What was expected, what was received, and what was asked last.
    /\n✖ Resources, TodoResponse · [\s\S]+expected {2}\{ id: \d+, title: 'Shape', done: false, categoryId: 1 \}\n +received {2}\{ id: \d+, title: 'Shape', categoryId: 1 \}\n +asked {5}GET \/todos\/\d+\n +HTTP 200\n/,
  ],
  ['no errors', 'shared-list', /✖ Limits, B10 · a title that is empty/],
  ['HTML gets JSON', 'error-demo', /✖ Errors 4, N3 · a client that does not admit JSON/],
  ['stack in the 500', 'error-demo', /✖ Errors 3 · neither the message/],
  ['completed twice', 'error-demo', /✖ Errors 5, States B · /],
];
describe('The conformance suite, and another implementation', { concurrency: 2 }, () => {
  for (const profile of ['shared-list', 'error-demo'] as const) {
    const flags = ['--profile', profile, ...(profile === 'shared-list' ? TOKEN_COMMAND : [])];

    test(`another implementation of ${profile} conforms to the specification, and not to our contract`, async () => {
      await using another = await startAnother(profile);
      const fresh = await conformance('--base-url', another.url, ...flags, '--only', 'spec', '--fresh');
      assert.equal(fresh.code, 0, fresh.output);
      const specified = await conformance('--base-url', another.url, ...flags, '--only', 'spec');
      assert.equal(specified.code, 0, specified.output);
      assert.doesNotMatch(specified.output, / R4 · /);
      const contracted = await conformance('--base-url', another.url, ...flags);
      assert.equal(contracted.code, 1);
      assert.match(contracted.output, /✖ R4 · /);
    });
  }

  for (const [fault, profile, failing] of FAULTS) {
    test(`an implementation with the fault "${fault}" does not conform to the specification`, async () => {
      await using another = await startAnother(profile, fault);
      const flags = ['--profile', profile, ...(profile === 'shared-list' ? TOKEN_COMMAND : [])];
      const run = await conformance('--base-url', another.url, ...flags, '--only', 'spec', '--fresh');
      assert.equal(run.code, 1, run.output);
      assert.match(run.output, failing);
    });
  }

  test('TAP has a line for each check, and JUnit a case', async () => {
    await using another = await startAnother('error-demo', 'stack in the 500');
    const flags = ['--base-url', another.url, '--profile', 'error-demo', '--only', 'spec', '--output'];
    const tap = (await conformance(...flags, 'tap')).output;
    const checks = tap.match(/^ {4}ok \d+ - \S.* · /gm)?.length ?? 0;
    assert.ok(checks > 10, tap);
    const [failed = ''] = /^ {4}not ok \d+ - Errors 3 · neither [\s\S]+?\n {6}\.\.\.$/m.exec(tap) ?? [];
    assert.match(failed, /error: \|-\n +\S[\s\S]+ asked {5}GET \/crash\n +HTTP 500\n/);
    const junit = (await conformance(...flags, 'junit')).output;
    assert.equal(junit.match(/<testcase name="[^"]+ · /g)?.length, checks + 1, junit);
    assert.match(junit, /<failure type="testCodeFailure" message="[^"<]+asked {5}GET \/crash/);
  });
});

/** Does this with each connection, until it is disposed of; and where it is. */
async function startListener(serve: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy()).resume();
    serve(socket);
  });
  return {
    url: new URL(`http://127.0.0.1:${await listen(server)}`),
    [Symbol.dispose]: () => void server.close(),
  };
}

test('an answer whose chunks have no size is a failure, and not waited for', async () => {
  for (const size of ['zz', '-4', '', '0x1', '4 ;'.repeat(9).concat('z'), '123456789']) {
    using broken = await startListener((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n{}\r\n`),
    );
    await assert.rejects(exchange(broken.url, 'GET / HTTP/1.1\r\n\r\n'), /chunk/, size);
  }
});

test('an answer without an end is cut off by its length', async () => {
  using broken = await startListener((socket) => {
    const more = () => {
      while (socket.write(Buffer.alloc(1024 * 1024)));
    };
    socket.on('drain', more);
    more();
  });
  await assert.rejects(exchange(broken.url, 'GET / HTTP/1.1\r\n\r\n'), /more than 134217728 bytes/);
});

test('an answer without an end is cut off by time, however often a byte of it comes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  using broken = await startListener((socket) => {
    const trickle = setInterval(() => socket.write('x'), 1);
    socket.once('close', () => clearInterval(trickle)).once('data', () => resolve());
  });
  const exchanged = exchange(broken.url, 'GET / HTTP/1.1\r\n\r\n');
  await asked;
  t.mock.timers.tick(20_000);
  await assert.rejects(exchanged, /no answer within 20000 ms/);
});

test('in colours a failure says what was compared in words of its own', async () => {
  await using another = await startAnother('shared-list', 'todo without done');
  const flags = ['--base-url', another.url, ...TOKEN_COMMAND, '--only', 'spec'];
  const env = { ...plainEnvironment, FORCE_COLOR: '1' };
  const { stdout } = await run(process.execPath, [PROGRAM, ...flags], { ...SURROUNDINGS, env });
  assert.match(stdout, /✖ Resources, TodoResponse/);
  assert.doesNotMatch(stdout, /\ufffd|actual/);
});

test('what a service sends reaches a report without control characters', async () => {
  let first = true;
  using broken = await startListener((socket) => {
    const body = '{"id":1,"title":"x","done":false}';
    const good = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    socket.end(first ? good : '\u001b[31m\0\u009b no HTTP\r\n\r\n');
    first = false;
  });
  const flags = ['--base-url', broken.url.href, '--profile', 'error-demo', '--output', 'junit'];
  const { code, output } = await conformance(...flags);
  assert.equal(code, 1);
  assert.match(output, /not a status line/);
  assert.doesNotMatch(output, /[^\n\t\P{C}]/u);
});

async function conformance(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const { code, stdout, stderr } = await run(process.execPath, [PROGRAM, ...args], SURROUNDINGS);
  return { code, output: stdout + stderr };
}
