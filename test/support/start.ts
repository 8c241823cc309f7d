import { type ChildProcessByStdio, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Trust } from '../../packages/conformance/src/sign.ts';
import { canaries } from '../canaries/canaries.ts';
import { leave } from './clients.ts';
import { plain } from './environment.ts';

/** `todo-service` of this checkout. */
export const PROGRAM = fileURLToPath(new URL('../../src/start.js', import.meta.url));
const built = fileURLToPath(new URL('../../dist/start.js', import.meta.url));

/** For so many connections 1,024 open files suffice, the limit of many machines: no service says that it takes fewer. */
export const FEW_CONNECTIONS = { TODO_MAX_CONNECTIONS: '500' };

/** Characters of an output to keep: a program that runs for an hour says more than anybody reads. */
const MAX_KEPT = 64 * 2 ** 20;

/** Milliseconds. Longer than any start or stop on a slow machine; reached only when the program hangs. */
const PATIENCE_MS = 120_000;

export interface ServeOptions {
  readonly profile?: 'shared-list' | 'error-demo';
  readonly environment?: 'development' | 'production';
  /** Kept afterwards. Without it, a new folder that is removed when the service is disposed of. */
  readonly dataDir?: string;
  /** The issuer, audience and HMAC secret that the service trusts; `sign.ts` makes tokens for them. */
  readonly auth?: Trust;
  /** Runs what `npm run build` made, as users run it; else the source. */
  readonly built?: boolean;
  /** The folder of another checkout, whose source runs instead. */
  readonly checkout?: string;
  /** More flags, after those made from the other options. */
  readonly args?: readonly string[];
  /** More variables. Nothing that `environment.ts` names reaches the program from the caller's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that serves, in a process of its own. Owned: `await using`. */
export interface Serving extends AsyncDisposable {
  /** With the port that the program printed, for example `http://127.0.0.1:40123`. */
  readonly baseUrl: string;
  readonly pid: number;
  /** Everything written so far. */
  stdout(): string;
  stderr(): string;
  /**
   * Ends the process with SIGTERM, or `signal`, and gives its exit code; null when the signal ended it. Without `signal`,
   * connections of this process to it are closed before.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A service that runs from its source, or from what is built of it. */
export interface Running extends Serving {
  readonly dataDir: string;
  /** Of the admin listener, where `TODO_ADMIN_PORT` is set; else empty. */
  readonly adminUrl: string;
}

/** A program whose output is read. */
type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** What a program that ran to its end left behind. */
export interface Finished {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts `todo-service serve` on a free port of 127.0.0.1 and waits until it has printed its URL.
 *
 * @throws Error with everything the program wrote, when it ends or stays silent instead.
 */
export async function startService(options: ServeOptions = {}): Promise<Running> {
  const ownDataDir = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'todo-service-')));
  const settings = options.auth === undefined ? {} : await authVariables(options.auth, dataDir);
  const program = options.built === true ? built : sourceOf(options.checkout);
  const child = launch(program, serveArguments(options, dataDir), {
    ...cacheOf(options.checkout),
    ...FEW_CONNECTIONS,
    ...settings,
    ...options.env,
  });
  try {
    const serving = await untilServing(child);
    const stop = async (signal?: NodeJS.Signals) => {
      const code = await serving.stop(signal);
      if (ownDataDir) await rm(dataDir, { recursive: true, force: true });
      return code;
    };
    return {
      ...serving,
      stop,
      dataDir,
      get adminUrl() {
        return /(?:"adminUrl":"|admin +)(http:\/\/[^"\s]+)/.exec(serving.stdout())?.[1] ?? '';
      },
      async [Symbol.asyncDispose]() {
        await stop();
      },
    };
  } catch (failure) {
    if (ownDataDir) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    throw failure;
  }
}

/**
 * Waits until a program has printed its URL.
 *
 * @param kill Sends a signal to the process that serves, where that is another one.
 * @throws Error with everything the program wrote, when it ends or stays silent instead.
 */
export async function untilServing(
  child: Child,
  kill: (signal: NodeJS.Signals) => void = (signal) => child.kill(signal),
): Promise<Serving> {
  const output = collect(child);
  const exited = exitOf(child);
  exited.then(
    () => canaries.searchOutput(output.stdout + output.stderr),
    () => {},
  );
  const baseUrl = await within(printedUrl(child, output, exited), 'no URL was printed', child, output);

  async function stop(signal?: NodeJS.Signals): Promise<number | null> {
    if (signal === undefined) leave(baseUrl);
    kill(signal ?? 'SIGTERM');
    return await within(exited, `the process did not end after ${signal ?? 'SIGTERM'}`, child, output);
  }

  return {
    baseUrl,
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Runs `todo-service` with these arguments to its end: commands that do not serve, and starts that fail. */
export async function runProgram(
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string;
    /** The folder of another checkout, whose source runs instead. */
    readonly checkout?: string;
    /** Whose rights the program has; only root may choose. */
    readonly user?: { readonly uid: number; readonly gid: number };
  } = {},
): Promise<Finished> {
  const env = { ...cacheOf(options.checkout), ...options.env };
  const child = launch(sourceOf(options.checkout), args, env, options.user);
  const output = collect(child);
  child.stdin.end(options.input ?? '');
  const code = await within(exitOf(child), 'the program did not end', child, output);
  canaries.searchOutput(output.stdout, printedBy(args));
  canaries.searchOutput(output.stderr);
  return { code, stdout: output.stdout, stderr: withoutProgress(output.stderr) };
}

/** Starts `todo-service` for a test that feeds it, leaves it or ends it. */
export function start(words: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  return launch(PROGRAM, words, variables);
}

/** The variable by which a program runs this code before its own. */
export function preloading(code: string) {
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(code).toString('base64')}` };
}

/** How a program ends that was just started, by its exit code or a signal, and what it says on standard error. */
export async function endOf(child: ChildProcessWithoutNullStreams) {
  const [said, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { end: code ?? signal, said: withoutProgress(said) };
}

/** What a command says on standard error without the progress of a backup or restore, which a slow machine has. */
export function withoutProgress(said: string): string {
  return said.replaceAll(/^(?:Copied \d+ of \d+ MB|Checking the copy)\n/gm, '');
}

/** What a command prints because it is asked for it. */
export function printedBy([command, part]: readonly string[]): 'tokens' | 'titles' | undefined {
  if (command === 'token' && part === 'create') return 'tokens';
  return command === 'export' ? 'titles' : undefined;
}

/** The variables `TODO_AUTH_*` for one HMAC secret, which is written to a file in `folder`. */
export async function authVariables(auth: Trust, folder: string): Promise<Record<string, string>> {
  const secretFile = join(folder, `secret-${randomBytes(4).toString('hex')}`);
  const secret = auth.secret.toString('base64');
  canaries.keepSecret(secret);
  await writeFile(secretFile, `base64:${secret}\n`, { mode: 0o600 });
  return {
    TODO_AUTH_ISSUER: auth.issuer,
    TODO_AUTH_AUDIENCE: auth.audience,
    TODO_AUTH_SECRET_FILE: secretFile,
  };
}

function sourceOf(checkout: string | undefined): string {
  return checkout === undefined ? PROGRAM : resolve(checkout, 'src/start.js');
}

/**
 * Where a checkout finds what is compiled of its source, by its own `node_modules`: behind a link, what it shares with
 * this one is compiled already.
 */
export function cacheOf(checkout: string | undefined): Readonly<Record<string, string>> {
  if (checkout === undefined || process.env.NODE_COMPILE_CACHE === undefined) return {};
  return { NODE_COMPILE_CACHE: resolve(checkout, 'node_modules/.cache/node') };
}

function serveArguments(options: ServeOptions, dataDir: string): string[] {
  return [
    'serve',
    ...(options.profile === undefined ? [] : ['--profile', options.profile]),
    ...(options.environment === undefined ? [] : ['--environment', options.environment]),
    '--port',
    '0',
    '--data-dir',
    dataDir,
    ...(options.args ?? []),
  ];
}

function launch(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  user: { readonly uid?: number; readonly gid?: number } = {},
): ChildProcessWithoutNullStreams {
  // NODE_TEST_CONTEXT would make a test program inside the child report to the wrong parent. The file of
  // NODE_EXTRA_CA_CERTS, which npm needs, may be missing: Node.js says so on standard error.
  const { NODE_TEST_CONTEXT: _, NODE_EXTRA_CA_CERTS: __, ...inherited } = plain(process.env);
  keepPasswords([...args, ...Object.values(env)]);
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...inherited, ...env },
    ...user,
  });
  // It may end before it has read its input, and before that is written.
  child.stdin.on('error', () => {});
  const kill = () => child.kill('SIGKILL');
  // Before what was registered earlier: a folder goes when nobody writes into it any more.
  process.prependOnceListener('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

/** Keeps the passwords of addresses, which no output may show. */
export function keepPasswords(words: readonly string[]): void {
  for (const word of words) {
    const password = /:\/\/[^:/@]*:([^@/]+)@/.exec(word)?.[1];
    if (password !== undefined) canaries.keepSecret(password);
  }
}

function collect(child: Child): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.stdout.length < MAX_KEPT) output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  return output;
}

async function exitOf(child: Child): Promise<number | null> {
  await once(child, 'close');
  return child.exitCode;
}

async function printedUrl(
  child: Child,
  output: { readonly stdout: string },
  exited: Promise<number | null>,
): Promise<string> {
  const ended = exited.then((code) => {
    throw new Error(`the process ended with code ${code} before it printed its URL`);
  });
  ended.catch(() => undefined);
  for (;;) {
    const port = /(?:"url":"|listening +)http:\/\/[\d.]+:(\d+)\D/.exec(output.stdout)?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
    await Promise.race([once(child.stdout, 'data'), ended]);
  }
}

async function within<T>(
  result: Promise<T>,
  complaint: string,
  child: Child,
  output: { readonly stdout: string; readonly stderr: string },
): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${complaint} within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  try {
    return await Promise.race([result, tooLate]);
  } catch (failure) {
    child.kill('SIGKILL');
    throw new Error(
      `todo-service: ${failure instanceof Error ? failure.message : failure}\n${output.stdout}${output.stderr}`,
    );
  } finally {
    clearTimeout(timer);
  }
}
