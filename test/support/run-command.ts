import { AsyncLocalStorage } from 'node:async_hooks';
import { PassThrough, Writable } from 'node:stream';
import { run } from '../../src/main.ts';
import { canaries } from '../canaries/canaries.ts';
import { plain } from './environment.ts';
import { type Finished, keepPasswords, printedBy, runProgram, withoutProgress } from './start.ts';

/** What a command has for the streams of its process. */
interface Streams {
  readonly stdin: PassThrough;
  readonly stdout: Output;
  readonly stderr: Output;
}

class Output extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

const streams = new AsyncLocalStorage<Streams>();
for (const name of ['stdin', 'stdout', 'stderr'] as const) {
  const { get } = Object.getOwnPropertyDescriptor(process, name) ?? {};
  Object.defineProperty(process, name, { get: () => streams.getStore()?.[name] ?? get?.call(process) });
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
let underWay = 0;
let listeners: readonly (readonly (() => void)[])[] = [];

/**
 * Runs a command to its end: in this process, which spares the start of another one, unless the process is tested: that of
 * a service, of another checkout or user, or with code before its own. No signal reaches a command in this process.
 */
export function runCommand(
  words: readonly string[],
  options: Parameters<typeof runProgram>[1] = {},
): Promise<Finished> {
  const [first = 'serve'] = words;
  const isApart = options.checkout ?? options.user ?? options.env?.NODE_OPTIONS;
  const isHere = isApart === undefined && first !== 'serve' && !first.startsWith('-');
  return isHere ? runHere(words, options) : runProgram(words, options);
}

async function runHere(
  words: readonly string[],
  { env = {}, input = '' }: NonNullable<Parameters<typeof runProgram>[1]>,
): Promise<Finished> {
  keepPasswords([...words, ...Object.values(env)]);
  const own: Streams = { stdin: new PassThrough(), stdout: new Output(), stderr: new Output() };
  own.stdin.end(input);
  if (underWay === 0) listeners = SIGNALS.map((name) => process.listeners(name) as (() => void)[]);
  underWay += 1;
  try {
    const code = await streams.run(own, () => run(words, { ...plain(process.env), ...env }));
    const [stdout, stderr] = [own.stdout.text(), own.stderr.text()];
    canaries.searchOutput(stdout, printedBy(words));
    canaries.searchOutput(stderr);
    return { code, stdout, stderr: withoutProgress(stderr) };
  } finally {
    underWay -= 1;
    if (underWay === 0) {
      for (const [index, name] of SIGNALS.entries()) {
        process.removeAllListeners(name);
        for (const listener of listeners[index] ?? []) process.on(name, listener);
      }
    }
  }
}
