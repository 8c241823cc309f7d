import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { BEGAN, FAILED } from './first-failure.ts';

/** The end of a test file's run: `broken` when its process failed before the first test began. */
export interface Ended {
  readonly end: 'passed' | 'failed' | 'hung' | 'broken';
  readonly seconds: number;
  /** Milliseconds. The longest time in which no test began. */
  readonly silenceMs: number;
  /** The name of the test that failed, or else the last words of the process. */
  readonly said: string;
}

/** Milliseconds for what a test has started, such as a PostgreSQL, to end in order. */
const LEAVE_MS = 3_000;

/** Memory, which spares most of the time of a database, and is there on Linux. */
const MEMORY = '/dev/shm';

/**
 * A copy of the project in which one file at a time is changed, and one test file at a time runs: whatever that starts, in
 * threads and other processes, runs the change.
 */
export class Lane implements Disposable {
  readonly folder: string;
  /** For temporary files: of each run, nothing stays. */
  readonly #temporary = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'todo-mutants-'));
  #group: number | undefined;

  constructor(folder: string) {
    this.folder = resolve(folder);
    rmSync(this.folder, { recursive: true, force: true });
    for (const path of projectFiles()) cpSync(path, join(this.folder, path));
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
    // Programs of other users come here.
    chmodSync(this.#temporary, 0o755);
  }

  /** Puts another text into a file, and gives back the original when it is disposed of. */
  change(file: string, changed: string): Disposable {
    const path = join(this.folder, file);
    // The project's own file may be another by then.
    const original = readFileSync(path);
    writeFileSync(path, changed);
    return { [Symbol.dispose]: () => writeFileSync(path, original) };
  }

  /**
   * Runs a test file until its first failure, or ends it and all that it has started when no test begins for so long.
   *
   * @param without A pattern of the names of tests that are left out.
   */
  async run(file: string, limitMs: number, without?: string): Promise<Ended> {
    const args = [
      '--require=./test/support/preload.ts',
      '--test-reporter=./test/mutants/first-failure.ts',
      ...(without === undefined ? [] : [`--test-skip-pattern=${without}`]),
      file,
    ];
    const from = performance.now();
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      // A group of its own, with all that it starts.
      detached: true,
      env: {
        ...process.env,
        TMPDIR: this.#temporary,
        NODE_COMPILE_CACHE: resolve('build/mutants/cache'),
        // As a runner of tests would set it: what only tests do is done.
        NODE_TEST_CONTEXT: 'mutants',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#group = child.pid;
    let isHung = false;
    let last: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => {
      isHung = true;
      // A PostgreSQL ends at once and in order by it.
      this.#signal('SIGQUIT');
      last = setTimeout(() => this.#signal('SIGKILL'), LEAVE_MS);
    }, limitMs);
    let [heardAt, silenceMs] = [from, 0];
    const hear = () => {
      silenceMs = Math.max(silenceMs, performance.now() - heardAt);
      heardAt = performance.now();
      if (!isHung) limit.refresh();
    };
    child.stdout.on('data', hear);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await once(child, 'exit');
    hear();
    clearTimeout(limit);
    clearTimeout(last);
    const seconds = (performance.now() - from) / 1_000;
    await this.#leave();
    const [stdout, stderr] = await output;
    const failed = new RegExp(`^${FAILED}(.*)$`, 'm').exec(stdout)?.[1];
    if (failed !== undefined) return { end: 'failed', seconds, silenceMs, said: failed };
    if (isHung) return { end: 'hung', seconds, silenceMs, said: '' };
    const said = `${stdout}${stderr}`.slice(-2_000);
    if (code === 0) return { end: 'passed', seconds, silenceMs, said };
    return { end: stdout.startsWith(BEGAN) ? 'failed' : 'broken', seconds, silenceMs, said };
  }

  [Symbol.dispose](): void {
    this.#signal('SIGKILL');
    unmountBelow(this.#temporary);
    rmSync(this.#temporary, { recursive: true, force: true, maxRetries: 5 });
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Ends what the process has left behind: processes, mounts and files. */
  async #leave(): Promise<void> {
    const deadline = performance.now() + LEAVE_MS;
    while (this.#signal(0) && performance.now() < deadline) await sleep(20);
    this.#signal('SIGKILL');
    this.#group = undefined;
    unmountBelow(this.#temporary);
    for (const name of readdirSync(this.#temporary))
      rmSync(join(this.#temporary, name), { recursive: true, force: true, maxRetries: 5 });
  }

  /** Whether the group had a process that got the signal. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return this.#group !== undefined && process.kill(-this.#group, signal);
    } catch {
      return false;
    }
  }
}

/** Of the project, as it is now, with what is not committed. */
function projectFiles(): readonly string[] {
  const list = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  return list.stdout.split('\0').filter((path) => path !== '' && existsSync(path));
}

/** Disks that a test has mounted and did not come to unmount. */
function unmountBelow(folder: string): void {
  if (process.platform !== 'linux') return;
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const points = mounts.map((line) => line.split(' ')[4] ?? '').filter((path) => path.startsWith(folder));
  for (const path of points.reverse()) spawnSync('umount', ['--lazy', path]);
}
