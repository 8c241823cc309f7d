import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, temporaryFolder } from '../support/folder.ts';
import { cacheOf } from '../support/start.ts';

const PAGE = await readFile('docs/tutorial.md', 'utf8');

/** What the page uses of a clone. */
const CLONE = ['package.json', 'packages', 'src', 'tools'];

/** Milliseconds. Longer than any step on a slow machine; reached only when a step never ends. */
const PATIENCE_MS = 120_000;

/** What differs from run to run: the page shows another one of its kind, or "…". */
const PLACEHOLDERS = {
  time: /\b\d{4}-\d\d-\d\dT[\d:.]+Z|^\d\d:\d\d:\d\d\.\d{3}\b/gm,
  'trace id': /(?<=traceId(?:":"|=))(?:…|[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}\b)/g,
  'development key': /\bdevelopment-[\da-f]{16}\b/g,
  'key id': /(?<=\bkid "|"kids":\[")[\w-]{43}(?=")/g,
  'process id': /(?<="pid":)\d+/g,
  size: /\b\d+(?= bytes\b)/g,
};

const STEPS = Array.from(
  PAGE.matchAll(/^Terminal (\d)(?: shows)?:\n(?:\n```sh\n(.*?)```\n)?(?:\n```\n(.*?)```\n)?/gms),
  ([, terminal = '', typed = '', shown = '']) => ({ terminal, typed, shown: linesOf(shown) }),
);

test('every command and every output of the tutorial belongs to a terminal', () => {
  const blocks = STEPS.flatMap(({ typed, shown }) => [typed, shown]).filter(({ length }) => length > 0);
  assert.ok(blocks.length > 20, `only ${blocks.length} were found`);
  assert.equal(blocks.length * 2, PAGE.match(/^```/gm)?.length);
});

test('the tutorial has at most 1,200 words', () => {
  const words = PAGE.split(/\s+/).length;
  assert.ok(words <= 1_200, `${words}`);
});

const missing = ['bash', 'curl', 'npm'].filter((program) => spawnSync(program, ['--version']).error);

test('a reader who types what the tutorial says, into two terminals, sees what it shows', {
  skip: missing.length > 0 && `needs ${missing.join(' and ')}`,
}, async () => {
  await using folder = await temporaryFolder();
  for (const name of CLONE) await cp(name, join(folder.path, name), { recursive: true });
  await folder.write('.curlrc', 'no-progress-meter\n');
  const ports = { '5080': await freePort(), '5090': await freePort() };
  const path = await realpath(folder.path);

  /** A command of the page with what is there in this run. The packages of this checkout are those that npm would bring. */
  const here = (typed: string) =>
    Object.entries(ports)
      .reduce((text, [shown, port]) => text.replaceAll(`127.0.0.1:${shown}`, `127.0.0.1:${port}`), typed)
      .replace(/^npm ci$/m, 'ln -s "$MODULES" node_modules');
  /** An output of this run with what the page shows in its place. */
  const onPage = (received: string) =>
    Object.entries(ports)
      .reduce((text, [shown, port]) => text.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${shown}`), received)
      .replaceAll(path, '/home/ada/todo-service')
      // A path with a blank is quoted for the shell.
      .replaceAll(/'(\/home\/ada\/[^']*)'/g, '$1');

  const variables = {
    ...cacheOf(path),
    CURL_HOME: path,
    MODULES: resolve('node_modules'),
    npm_config_update_notifier: 'false',
    TODO_PORT: String(ports['5080']),
  };
  await using first = openTerminal(path, variables);
  await using second = openTerminal(path, variables);
  for (const { terminal, typed, shown } of STEPS) {
    if (terminal === '1') {
      await first.type(here(typed), (received) => hasInOrder(linesOf(onPage(received)), shown));
      if (typed.includes('serve &')) await untilKeysAreThere(ports['5090'], ports['5080']);
    } else {
      const received = await second.type(here(typed));
      assert.deepEqual(withoutOtherHeaders(linesOf(onPage(received)), shown), shown, typed);
    }
  }
});

/** The lines that are not empty, with the name of each placeholder in its place. */
function linesOf(text: string): readonly string[] {
  const masked = Object.entries(PLACEHOLDERS).reduce(
    (rest, [name, form]) => rest.replaceAll(form, `<${name}>`),
    text.replaceAll('\r', ''),
  );
  return masked.split('\n').filter((line) => line !== '');
}

function hasInOrder(lines: readonly string[], wanted: readonly string[]): boolean {
  let found = 0;
  for (const line of lines) if (line === wanted[found]) found += 1;
  return found === wanted.length;
}

/** The lines of an output without the header lines that the page leaves out. */
function withoutOtherHeaders(lines: readonly string[], shown: readonly string[]): readonly string[] {
  return lines.filter((line) => !/^[\w-]+: /.test(line) || shown.includes(line));
}

/** A provider that stands still for 5 s is asked for its keys once more: until then, tokens are answered 503. */
async function untilKeysAreThere(provider: number, service: number): Promise<void> {
  const headers = { authorization: `Basic ${btoa('ada:ada')}`, connection: 'close' };
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const granted = await fetch(`http://127.0.0.1:${provider}/token`, { method: 'POST', headers, body });
  const authorization = `Bearer ${Object(await granted.json()).access_token}`;
  for (let status = 503; status === 503; await sleep(50)) {
    const reply = await fetch(`http://127.0.0.1:${service}/me`, {
      headers: { authorization, connection: 'close' },
    });
    await reply.text();
    status = reply.status;
  }
}

/** A shell that reads what is typed, as in a window of its own. */
function openTerminal(folder: string, variables: Readonly<Record<string, string>>) {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn('bash', ['-O', 'expand_aliases'], {
    cwd: folder,
    env: { ...inherited, ...variables },
    // A process group: what runs in the background ends with it.
    detached: true,
  });
  const end = () => process.kill(-(child.pid ?? assert.fail('not started')), 'SIGKILL');
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  let typed = 0;
  let from = 0;
  child.stdin.write('exec 2>&1\n');
  return {
    /**
     * Types lines, waits until they have run and `isComplete`, and gives what they have written. Without lines, it waits for
     * what is written since the last ones.
     */
    async type(lines: string, isComplete: (received: string) => boolean = () => true): Promise<string> {
      if (lines !== '') {
        from = output.length;
        typed += 1;
        child.stdin.write(`${lines}\nprintf '\\n%s\\n' 'end of step ${typed}'\n`);
      }
      const signal = AbortSignal.timeout(PATIENCE_MS);
      for (;;) {
        const received = output.slice(from).split(`\nend of step ${typed}\n`);
        if (received.length > 1 && isComplete(received.join('\n'))) return received[0] ?? '';
        await once(child.stdout, 'data', { signal }).catch((cause) => {
          throw new Error(`not what the page shows:\n${lines}\n${output.slice(from)}`, { cause });
        });
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = once(child, 'close');
      end();
      await closed;
      process.off('exit', end);
    },
  };
}
