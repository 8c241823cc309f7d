import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/folder.ts';
import { overBudget } from './attack/attack.ts';
import { SCENARIOS } from './attack/scenarios.ts';
import { fitAndTest, fitLine, valueAt } from './capacity/fit.ts';
import { formula, mostPerSecond } from './capacity/report.ts';
import { slopePerHour } from './slope.ts';

const SIZES = [1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const rounded = (value: number) => Number(value.toFixed(6));

test('a straight line is found, and misses nothing', () => {
  const { line, errors } = fitAndTest(
    SIZES.map((todos) => [todos, 80 + 0.01 * todos]),
    'todos',
  );
  assert.deepEqual([rounded(line.constant), rounded(line.each)], [80, 10]);
  assert.deepEqual(
    errors.map(([todos, error]) => [todos, Math.abs(rounded(error))]),
    [
      [10_000, 0],
      [300_000, 0],
    ],
  );
});

test('what looks one todo up grows with the logarithm', () => {
  const { line, errors } = fitAndTest(
    SIZES.map((todos) => [todos, 50 + 20 * Math.log10(todos / 1_000)]),
    'depth',
  );
  assert.deepEqual([rounded(line.constant), rounded(line.each)], [50, 20]);
  assert.ok(errors.every(([, error]) => Math.abs(error) < 1e-9));
});

test('a point that is held out changes nothing but its error', () => {
  const { line, errors } = fitAndTest(
    SIZES.map((todos) => [todos, todos === 10_000 ? 40 : 20]),
    'todos',
  );
  assert.equal(rounded(valueAt(line, 10_000)), 20);
  assert.deepEqual(
    errors.map(([, error]) => rounded(error)),
    [-0.5, 0],
  );
});

test('nothing falls as todos grow, and nothing begins below 0', () => {
  const falling = fitLine(
    SIZES.map((todos) => [todos, 2_000_000 - todos]),
    'todos',
  );
  assert.equal(falling.each, 0);
  assert.ok(falling.constant > 1_000_000 && falling.constant < 2_000_000);
  const steep = fitLine(
    SIZES.map((todos) => [todos, todos ** 1.1]),
    'todos',
  );
  assert.equal(steep.constant, 0);
});

test('small sizes count as much as large ones', () => {
  const line = fitLine(
    [
      [1_000, 10],
      [1_000, 12],
      [1_000_000, 10_000],
      [1_000_000, 12_000],
    ],
    'todos',
  );
  for (const [todos, value] of [
    [1_000, 10.8],
    [1_000_000, 10_800],
  ] as const)
    assert.ok(Math.abs(valueAt(line, todos) / value - 1) < 0.01);
});

test('what several instances answer ends at 70 % of their main threads, or of the cores of their server', () => {
  const demand = { main: 50, server: 100 };
  assert.deepEqual(mostPerSecond(demand, 1, 4), { perSecond: 14_000, endsAt: 'instances' });
  assert.deepEqual(mostPerSecond(demand, 8, 4), { perSecond: 28_000, endsAt: 'server' });
});

test('a formula leaves out what a million todos hardly add', () => {
  assert.equal(formula({ growth: 'todos', constant: 20, each: 0.000_1 }), '20.0');
  assert.equal(formula({ growth: 'todos', constant: 20, each: 20 }), '20.0 + 20.0 T');
  assert.equal(formula({ growth: 'todos', constant: 0, each: 0.02 }), '0.02 T');
  assert.equal(formula({ growth: 'depth', constant: 20, each: 2 }), '20.0 + 2.00 L');
});

test('a run that is interrupted leaves neither a server nor a file', async () => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  const program = fileURLToPath(new URL('./capacity.ts', import.meta.url));
  // Servers of tests keep their data in memory, those that are measured do not.
  const env = { ...process.env, TMPDIR: folder.path, NODE_TEST_CONTEXT: undefined };
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const child = spawn(process.execPath, [program, '--sizes', '1,2,3'], { env, stdio: [...stdio] });
  const exited = once(child, 'exit');
  const { promise: started, resolve } = Promise.withResolvers<void>();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.includes('start with')) resolve();
  });
  await Promise.race([started, exited]);
  const [made = ''] = await readdir(folder.path, { recursive: true }).then((names) =>
    names.filter((name) => name.endsWith('postmaster.pid')),
  );
  const [, , , port] = (await readFile(join(folder.path, made), 'utf8')).split('\n');
  child.kill('SIGINT');
  await exited;
  assert.deepEqual(await readdir(folder.path), []);
  // It is told to end, and may do so a moment after who told it.
  while (await isListening(Number(port))) await pause(10);
});

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  // Who ends resets the connections that it has not accepted.
  socket.on('error', () => {});
  const found = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return found;
}

const [scenario] = SCENARIOS;
assert.ok(scenario);
const { megabytes, processorSeconds } = scenario;
const waits = { longestWaitMs: 60_000, failed: 100, answers: {}, open: 0 };
const within = { before: 140, peak: 140, processorSeconds: 0, ...waits };

test('three times a budget is within three times the budget, whatever others waited', () => {
  const all = { ...within, peak: 140 + 3 * megabytes, processorSeconds: 3 * processorSeconds };
  assert.deepEqual(overBudget(scenario, all, 3), []);
  assert.equal(overBudget(scenario, all, 1).length, 2);
});

test('memory and processor time are looked at each for itself', () => {
  const memory = overBudget(scenario, { ...within, peak: 141 + megabytes }, 1);
  assert.deepEqual(memory, [`${megabytes + 1} MB of memory`]);
  const processor = overBudget(scenario, { ...within, processorSeconds: processorSeconds + 0.1 }, 1);
  assert.deepEqual(processor, [`${processorSeconds + 0.1} s of the processor`]);
});

const minutes = Array.from({ length: 120 }, (_, minute) => minute);

test('a level that rises by a tenth a minute rises by six an hour', () => {
  assert.equal(Math.round(slopePerHour(minutes.map((minute) => [minute, 100 + minute / 10]))), 6);
});

test('a saw whose lows stay where they are does not rise', () => {
  assert.equal(Math.round(slopePerHour(minutes.map((minute) => [minute, 100 + (minute % 12)]))), 0);
});
