import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that talks HTTP by the stack of its language. */
export interface Stack {
  readonly name: string;
  readonly command: readonly string[];
  /** Why it cannot run here, for the `skip` of a test; false when it can. */
  readonly missing: string | false;
}

function stack(name: string, debian: string, probe: readonly string[], command: readonly string[]): Stack {
  const [program = '', ...args] = probe;
  const found = spawnSync(program, args).status === 0;
  return { name, command, missing: !found && `needs ${debian}: on Debian "apt-get install ${debian}"` };
}

function source(file: string): string {
  return fileURLToPath(new URL(`stacks/${file}`, import.meta.url));
}

/** Debian's headless runtime has no compiler. */
const JAVAC = ['javac', '-version'];

/** For a program that ends within a second: nothing is compiled twice, and one thread collects garbage. */
const JAVA = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** They ask for the same todo many times, and offer HTTP/2 by an upgrade. */
export const GETS = [
  stack("Java's HttpClient", 'openjdk-17-jdk-headless', JAVAC, [...JAVA, source('Gets.java')]),
  stack(
    'curl --http2',
    'curl',
    ['curl', '--http2', '--version'],
    ['sh', '-c', 'exec curl --http2 -sS -o /dev/null -w "%{http_code}\\n" "$0?[1-$1]"'],
  ),
];

/** They write all of a body before they read: ten times, each on a connection of its own. */
export const UPLOADS = [
  stack("Java's HttpURLConnection", 'openjdk-17-jdk-headless', JAVAC, [...JAVA, source('Uploads.java')]),
  stack("Python's http.client", 'python3', ['python3', '--version'], ['python3', source('uploads.py')]),
  stack("Go's net/http", 'golang-go', ['go', 'version'], ['go', 'run', source('uploads.go')]),
];

/** What the program prints, by lines. Rejects when it fails. */
export async function outputOf({ command }: Stack, ...args: readonly string[]): Promise<string[]> {
  const [program = '', ...first] = command;
  // Go needs a place for what it compiles, also where a user has no home.
  const env = { HOME: tmpdir(), ...process.env };
  const { stdout } = await run(program, [...first, ...args], { env, maxBuffer: 2 ** 24 });
  return stdout.trim().split('\n');
}
