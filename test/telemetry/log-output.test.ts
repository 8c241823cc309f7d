import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../support/folder.ts';

const LOG = new URL('../../src/telemetry/log.ts', import.meta.url);

/** `script` of util-linux runs a program in a terminal, and shows what that says on its standard output. */
const NO_TERMINAL =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') !== true &&
  'needs script of util-linux';

const BEFORE = `import { writeFileSync, writeSync } from 'node:fs';
  import { openLog } from ${JSON.stringify(LOG.href)};
  const { log, output } = openLog('production', 'debug');
  const print = (event) => writeSync(1, JSON.stringify({ event }) + '\\n');`;

/** The second that a reader has when a program ends does not pass: a test may be held up for longer. */
const PATIENT = 'performance.now = () => 0;';

const LINES_FOR_PEOPLE = `log.warn({ event: 'a' }, 'careful'); log.debug({ event: 'request', status: 404 }, 'request');`;

/** Runs a program that has a `log` at level debug, and `print` to write on standard output past it. */
function start(program: string) {
  return spawn(process.execPath, ['--input-type=module', '--eval', `${BEFORE}\n${program}`], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
}

function eventsIn(output: string): string[] {
  return output.split('\n').flatMap((line) => (line === '' ? [] : [String(JSON.parse(line).event)]));
}

async function eventsOf(program: string): Promise<string[]> {
  return eventsIn(await text(start(program).stdout));
}

/** Reached only when something that must not wait does. */
const HANGS_MS = 300_000;

describe('The log on standard output', { concurrency: 2, timeout: HANGS_MS }, () => {
  test('lines of level debug wait for the end of their turn, and no longer', async () => {
    const program = `log.debug({ event: 'a' }); log.debug({ event: 'b' }); print('turn');
      setImmediate(() => setImmediate(() => { print('next'); process.kill(process.pid, 'SIGKILL'); }));`;
    assert.deepEqual(await eventsOf(program), ['turn', 'a', 'b', 'next']);
  });

  test('any other line is there at once, behind those that waited', async () => {
    const program = `log.debug({ event: 'a' }); log.info({ event: 'b' }); print('c');
      log.debug({ event: 'd' }); log.error({ event: 'e' }); process.kill(process.pid, 'SIGKILL');`;
    assert.deepEqual(await eventsOf(program), ['a', 'b', 'c', 'd', 'e']);
  });

  test('two hundred lines of one turn are all there, in their order', async () => {
    const program = `${PATIENT}
      for (let n = 0; n < 200; n += 1) log.debug({ event: String(n), long: 'x'.repeat(n * 30) });`;
    assert.deepEqual(
      await eventsOf(program),
      Array.from({ length: 200 }, (_, n) => String(n)),
    );
  });

  for (const end of ['process.exit(0)', `throw new Error('nobody catches this')`]) {
    test(`lines that wait are there after ${end}`, async () => {
      assert.deepEqual(await eventsOf(`log.debug({ event: 'last' }); ${end};`), ['last']);
    });
  }

  test('a reader that is slow gets every line', async () => {
    const child = start(`process.stderr.write('begun\\n');
      for (let n = 0; n < 500; n += 1) log.debug({ event: String(n), long: 'x'.repeat(1000) });
      process.stdin.resume();`);
    await once(child.stderr, 'data');
    await pause(100);
    let output = '';
    for await (const chunk of child.stdout) {
      output += chunk;
      if (output.includes('"event":"499"')) child.stdin.end();
    }
    const events = eventsIn(output);
    assert.deepEqual(
      events,
      Array.from({ length: 500 }, (_, n) => String(n)),
    );
  });

  test('what happened to todos, and errors, find room where other lines and refused writes find none', async () => {
    const child =
      start(`for (let n = 0; n < 6000; n += 1) log.debug({ event: 'long', long: 'x'.repeat(1000) });
      for (let n = 0; n < 100; n += 1) log.info({ event: 'other', long: 'x'.repeat(2000) });
      for (let n = 0; n < 100; n += 1) log.info({ event: 'todo-write-refused', long: 'x'.repeat(2000) });
      for (let n = 0; n < 100; n += 1) log.info({ event: 'todo-created' });
      for (let n = 0; n < 100; n += 1) log.error({ event: 'crash' });
      process.stderr.write('begun\\n');
      process.stdin.resume();`);
    await once(child.stderr, 'data');
    let output = '';
    for await (const chunk of child.stdout) {
      output += chunk;
      if (output.includes('"event":"log-lines-dropped"')) child.stdin.end();
    }
    const events = eventsIn(output).filter((event) => event !== 'long');
    const kept = (event: string) => Array.from({ length: 100 }, () => event);
    assert.deepEqual(events, [...kept('todo-created'), ...kept('crash'), 'log-lines-dropped']);
  });

  test('a reader that has not read everything yet gets the rest when the process ends', async () => {
    const program = `${PATIENT}
      for (let n = 0; n < 150; n += 1) log.debug({ event: String(n), long: 'x'.repeat(1000) });
      process.exit(0);`;
    assert.equal((await eventsOf(program)).length, 150);
  });

  test('a terminal that shows nothing more is not waited for', { skip: NO_TERMINAL }, async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'dropped');
    const program = `${BEFORE}
      for (let n = 0; n < 3000; n += 1) log.debug({ event: String(n), long: 'x'.repeat(1000) });
      writeFileSync(${JSON.stringify(file)}, String(output.dropped()));`;
    const path = join(folder.path, 'program.mjs');
    await writeFile(path, program);
    const command = `"${process.execPath}" "${path}"`;
    const terminal = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(20);
    // It blocks on what nobody reads, and then heeds no other signal.
    terminal.kill('SIGKILL');
    assert.ok(Number(readFileSync(file, 'utf8')) > 0);
  });

  for (const [variables, colours] of [
    [{ TERM: 'xterm-256color' }, true],
    [{ TERM: 'xterm-256color', NO_COLOR: '1' }, false],
    [{ TERM: 'dumb' }, false],
  ] as const) {
    const have = colours ? 'have colours by level and status' : 'have no colours';
    test(`in a terminal with ${JSON.stringify(variables)} lines for people ${have}`, {
      skip: NO_TERMINAL,
    }, async () => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, 'program.mjs');
      await writeFile(path, `${BEFORE.replace("'production'", "'development'")} ${LINES_FOR_PEOPLE}`);
      const command = `"${process.execPath}" "${path}"`;
      const terminal = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH, ...variables },
      });
      const shown = await text(terminal.stdout);
      assert.match(shown, /status=404/);
      assert.equal(shown.includes('\u001b[33mWARN \u001b[39m'), colours);
      assert.equal(shown.includes('\u001b[33mstatus=404\u001b[39m'), colours);
      assert.equal(shown.includes('\u001b['), colours);
    });
  }

  test('in a pipe lines for people have no colours', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `${BEFORE.replace("'production'", "'development'")}\n${LINES_FOR_PEOPLE}`,
      ],
      { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env.PATH, TERM: 'xterm-256color' } },
    );
    const shown = await text(child.stdout);
    assert.match(shown, /WARN {2}careful\n.*status=404/);
    assert.ok(!shown.includes('\u001b'));
  });

  test('a reader that has gone ends nothing', async () => {
    const child = start(`process.stdin.resume().once('end', () => {
      log.debug({ event: 'a' });
      setImmediate(() => { log.info({ event: 'b' }); log.debug({ event: 'c' }); process.exitCode = 5; });
    });`);
    const exited = once(child, 'exit');
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.end();
    assert.deepEqual(await exited, [5, null]);
  });
});
