import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { plain } from './environment.ts';
import { PROGRAM } from './start.ts';

const PARENT = fileURLToPath(new URL('given.py', import.meta.url));

/** Without the packages and variables of its user, which the parent needs not. */
const ALONE = '-IS';

/** The path of Python itself, which takes a tenth of the time of a version manager's; empty where there is none. */
const { stdout: PYTHON } = spawnSync('python3', [ALONE, '-c', 'import sys; print(sys.executable, end="")'], {
  encoding: 'utf8',
});

/** Why tests with a parent that gives a socket are left out, or false. */
export function noParent(): string | false {
  return !PYTHON && 'needs python3, which gives the socket';
}

/** Kinds of descriptors, as given.py has them. */
export type Given = 'tcp' | 'tcp6' | 'unix' | 'abstract' | (string & {});

type Variables = Readonly<Record<string, string>>;

/**
 * Starts `todo-service` with this descriptor, from a parent that becomes it: as `LISTEN_FDS` 1 of its own process unless
 * the variables say otherwise.
 *
 * @param place The path of a socket or a file of the parent.
 */
export function startGiven(kind: Given, words: readonly string[], variables: Variables = {}, place = '') {
  return launch(kind, place, 'exec', words, variables);
}

/** A parent that keeps its socket while the program is started and ends. Owned: `using`. */
export class Holder implements Disposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  /** Of the TCP socket. */
  readonly url: string;
  #pid: number | undefined;

  private constructor(child: ChildProcessWithoutNullStreams, lines: AsyncIterator<string>, port: number) {
    this.#child = child;
    this.#lines = lines;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(words: readonly string[]): Promise<Holder> {
    const child = launch('tcp', '', 'hold', words, {});
    child.stderr.pipe(process.stderr);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const { port } = await until(lines, 'port');
    return new Holder(child, lines, port);
  }

  /** Starts the program with more variables. The result is its process. */
  async start(variables: Variables = {}): Promise<number> {
    this.#child.stdin.write(`${JSON.stringify(variables)}\n`);
    const { begun } = await until(this.#lines, 'begun');
    this.#pid = begun;
    return begun;
  }

  /** Waits for this event in the log of the program. @throws Error when that ends before. */
  async logged(event: string): Promise<void> {
    for (;;) {
      const line = await until(this.#lines, 'event', 'ended');
      if (line.event === event) return;
      if ('ended' in line) throw new Error(`the program ended with ${line.ended} before "${event}"`);
    }
  }

  /** Waits for the end of the program: its exit code, or the number of a signal below 0. */
  async ended(): Promise<number> {
    const { ended } = await until(this.#lines, 'ended');
    this.#pid = undefined;
    return ended;
  }

  [Symbol.dispose](): void {
    if (this.#pid !== undefined) process.kill(this.#pid, 'SIGKILL');
    this.#child.kill('SIGKILL');
  }
}

/** The next line of JSON with one of these members. */
async function until(lines: AsyncIterator<string>, ...members: readonly string[]) {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the parent ended without "${members}"`);
    if (!value.startsWith('{')) continue;
    const line = JSON.parse(value);
    if (members.some((member) => member in line)) return line;
  }
}

function launch(kind: Given, place: string, way: string, words: readonly string[], variables: Variables) {
  const { NODE_TEST_CONTEXT: _, NODE_EXTRA_CA_CERTS: __, ...inherited } = plain(process.env);
  const child = spawn(PYTHON, [ALONE, PARENT, kind, place, way, process.execPath, PROGRAM, ...words], {
    env: { ...inherited, ...variables },
  });
  const kill = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill);
  void once(child, 'exit').then(() => process.off('exit', kill));
  return child;
}
