import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { after, describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { readCommandLine } from '../../packages/conformance/src/command-line.ts';
import { exchange, json } from '../../packages/conformance/src/http.ts';
import { makeTodo, send } from '../../packages/conformance/src/target.ts';
import { TLS, trustTestCertificate } from '../auth/connect-proxy.ts';
import { plainEnvironment, project } from '../package/npm.ts';
import { run } from '../package/program.ts';
import { listen } from '../support/folder.ts';
import { startService } from '../support/start.ts';
import { startAnother } from './another-implementation.ts';
import { auth, sharedListOf } from './target-of.ts';

const PROGRAM = fileURLToPath(new URL('../../packages/conformance/src/main.ts', import.meta.url));
const SURROUNDINGS = { cwd: project, env: plainEnvironment };

const ours = await startService({ environment: 'development', auth });
after(() => ours[Symbol.asyncDispose]());
const target = sharedListOf(ours, 'development');
const { editor, reader } = target.tokens;
const TOKENS = ['--editor-token', editor, '--reader-token', reader];

const before = [await makeTodo(target, 'Somebody’s'), await makeTodo(target, 'Somebody else’s')];

async function todos(): Promise<unknown> {
  return json(await send(target, 'GET /todos', { token: reader }));
}

/** Runs the suite, interrupts it before it hears of its first todo, and gives its exit code: no other check is run. */
async function interrupted(
  interrupt: (suite: ChildProcessByStdio<null, Readable, Readable>) => void,
): Promise<number | null> {
  let made = 0;
  let output = '';
  using between = await startListener((socket) => {
    const service = connect(Number(new URL(ours.baseUrl).port), '127.0.0.1');
    socket.pipe(service);
    service
      .on('error', () => {})
      .on('data', (answer) => {
        if (answer.toString('latin1').startsWith('HTTP/1.1 201')) {
          made += 1;
          if (made === 1) interrupt(suite);
        }
        socket.write(answer);
      });
    service.once('close', () => socket.end());
    socket.once('close', () => service.destroy());
  });
  const words = [PROGRAM, '--base-url', between.url.href, ...TOKENS];
  const suite = spawn(process.execPath, words, { ...SURROUNDINGS, stdio: ['ignore', 'pipe', 'pipe'] });
  suite.stdout.on('data', (text) => {
    output += text;
  });
  await once(suite, 'close');
  assert.ok(made < 30, `${made} todos were made`);
  assert.doesNotMatch(output, /✖/);
  return suite.exitCode;
}

// One after the other: each looks at all todos of this service.
describe('The conformance suite leaves a service as it found it', () => {
  test('todos are deleted also when tests fail', async () => {
    // Two editors: every test of the missing role fails, and its writes go through.
    const tokens = ['--editor-token', editor, '--reader-token', editor];
    const run = await conformance('--base-url', ours.baseUrl, ...tokens, '--only', 'spec');
    assert.equal(run.code, 1, run.output);
    assert.match(run.output, /^﹣ tokens made at will \[A2; A5;.*# SKIP$/m);
    assert.deepEqual(await todos(), before);
  });

  test('todos are deleted also when a signal ends it', async () => {
    assert.equal(await interrupted((suite) => suite.kill('SIGINT')), 130);
    assert.deepEqual(await todos(), before);
  });

  test('todos are deleted also when nobody reads the report to its end', async () => {
    assert.equal(await interrupted(({ stdout }) => stdout.destroy()), 74);
    assert.deepEqual(await todos(), before);
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
  const failed =
    /✖ an id that is not a 32-bit integer .*\[R2\].*\n.*ℹ asked GET \/todos\/abc, received 200 \[/;
  assert.match(run.output, failed);
  assert.match(
    run.output,
    /^test at packages\/conformance\/src\/chapters\/routes\.ts:\d+:\d+\n✖ .+ \[R2\] /m,
  );
});

/** Prints `token.<name>-<role>.signed`, which the other implementation takes. */
const TOKEN_COMMAND = ['--token-command', 'f() { echo "token.$2-$4.signed"; }; f'];

describe('The conformance suite, and another implementation', { concurrency: 2 }, () => {
  for (const profile of ['shared-list', 'error-demo'] as const) {
    const flags = ['--profile', profile, ...(profile === 'shared-list' ? TOKEN_COMMAND : [])];

    test(`another implementation of ${profile} conforms to the specification, and not to our contract`, async () => {
      await using another = await startAnother(profile);
      const fresh = await conformance('--base-url', another.url, ...flags, '--only', 'spec', '--fresh');
      assert.equal(fresh.code, 0, fresh.output);
      const specified = await conformance('--base-url', another.url, ...flags, '--only', 'spec');
      assert.equal(specified.code, 0, specified.output);
      assert.doesNotMatch(specified.output, / \[R4\] /);
      const contracted = await conformance('--base-url', another.url, ...flags);
      assert.equal(contracted.code, 1);
      assert.match(contracted.output, /✖ .+ \[R4\] /);
    });
  }
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

test('an https address by number is asked without a name of the server (RFC 6066 §3)', async () => {
  trustTestCertificate();
  const names: unknown[] = [];
  await using server = createTlsServer(TLS, (socket) => {
    names.push(socket.servername);
    socket
      .on('error', () => {})
      .resume()
      .end('HTTP/1.1 204 No Content\r\n\r\n');
  }).on('tlsClientError', () => {});
  await once(server.listen(0, '::'), 'listening');
  const at = (host: string) => new URL(`https://${host}:${(server.address() as AddressInfo).port}`);
  for (const host of ['127.0.0.1', 'localhost'])
    assert.equal((await exchange(at(host), 'GET / HTTP/1.1\r\n\r\n')).length, 1);
  assert.deepEqual(names, [false, 'localhost']);
  await assert.rejects(exchange(at('[::1]'), ''), /IP: ::1 is not in the cert's list/);
});

test('an answer whose chunks have no size is a failure, and not waited for', async () => {
  for (const size of ['zz', '-4', '', '0x1', '4 ;'.repeat(9).concat('z'), '123456789']) {
    using broken = await startListener((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n{}\r\n`),
    );
    await assert.rejects(exchange(broken.url, 'GET / HTTP/1.1\r\n\r\n'), /chunk/, size);
  }
});

test('an answer without an end is cut off by its length', async (t) => {
  // Else a busy machine would reach the limit of time first.
  t.mock.timers.enable({ apis: ['setTimeout'] });
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
