// @ts-check
import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

// JavaScript, because it starts with every test file.

/** @type {{ limitMs: number, file: string }} */
const { file } = workerData;
let { limitMs } = workerData;
/** @type {Set<string>} */
const underWay = new Set();
let last = '';
let timer = setTimeout(end, limitMs);

parentPort?.on('message', (/** @type {{ begun?: string, ended?: string, limitMs?: number }} */ told) => {
  if (told.begun !== undefined) underWay.add(told.begun);
  if (told.ended !== undefined) {
    underWay.delete(told.ended);
    last = `, after "${told.ended}"`;
  }
  limitMs = Math.max(limitMs, told.limitMs ?? 0);
  clearTimeout(timer);
  timer = setTimeout(end, limitMs);
});

function end() {
  const names = underWay.size > 0 ? [...underWay].join('; ') : `${basename(file)}${last}`;
  writeSync(2, `hung: ${names}\n`);
  for (const pid of descendants()) kill(pid, 'SIGKILL');
  // Its listeners remove what is in memory, where they still run. A runner would call that a success.
  if (process.env.NODE_TEST_CONTEXT !== undefined) kill(process.pid, 'SIGTERM');
  setTimeout(() => kill(process.pid, 'SIGKILL'), 2_000);
}

/** The processes that this one has started, and those have started. */
function descendants() {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'ppid=', '-o', 'pid='], { encoding: 'utf8' });
  const pairs = (stdout ?? '')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/).map(Number));
  const found = [process.pid];
  for (const parent of found) found.push(...pairs.filter(([of]) => of === parent).map(([, pid = 0]) => pid));
  return found.slice(1);
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
