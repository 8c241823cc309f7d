import { Agent } from 'node:http';
import fc from 'fast-check';
import { signer } from '../../packages/conformance/src/sign.ts';
import { testAuth } from '../support/list.ts';
import { mainThreadMs } from '../support/process-figures.ts';
import { askBy } from '../support/raw.ts';
import { type Running, startService } from '../support/start.ts';
import { REPEATED } from './hostile-values.ts';

/**
 * Milliseconds of the main thread for one answer. What is linear needs less than 5; what is quadratic in 16 KiB needs
 * more than 100.
 */
const BOUND_MS = 50;

/** Milliseconds of the main thread after which nobody waits any longer. */
const HOPELESS_MS = 2_000;

const ORIGIN = 'https://app.example';

/** Bytes of a value: with the other lines, a head is near its limit of 16 KiB. */
const LONGEST = 15_000;

/** Bytes of a body, near its limit of 64 KiB. */
const LONGEST_BODY = 65_000;

/** A value that begins well, goes on with so many times the same, and ends badly. */
interface Hostile {
  /** A header in lower case, or `:target` or `:body`. */
  readonly field: string;
  readonly begin: string;
  readonly repeated: string;
  readonly times: number;
  readonly end: string;
}

/** Every header that is read, the target and the body: what reads it, and what a good value may begin with. */
const FIELDS: Readonly<Record<string, readonly [line: string, ...begins: string[]]>> = {
  ':body': ['POST /todos', '', '"', '{"title":"', '{"title":"x","categoryId":'],
  ':target': ['GET /', '/todos/', '/todos/1?', 'http://x/', '/'],
  accept: ['GET /none', 'a/b', 'application/json', '*/*;q=', ''],
  'accept-encoding': ['GET /todos', 'gzip', ''],
  'access-control-request-headers': ['OPTIONS /todos', 'authorization', ''],
  'access-control-request-method': ['OPTIONS /todos', 'PUT', ''],
  authorization: ['GET /todos', 'Bearer ', 'Bearer a.b.', ''],
  connection: ['GET /none', 'close', ''],
  'content-encoding': ['POST /todos', 'identity', ''],
  'content-type': ['POST /todos', 'application/json', 'application/json;a="', 'application/a', ''],
  expect: ['GET /none', '100-continue', ''],
  host: ['GET /none', 'x', '[::', ''],
  'idempotency-key': ['POST /todos', '"', 'a', ''],
  'if-match': ['PUT /todos/1', '"a"', '"', 'W/"a"', ''],
  'if-none-match': ['GET /todos', '"a"', `"${'0'.repeat(32)}`, '"', 'W/"a"', ''],
  origin: ['GET /none', 'https://', ''],
  traceparent: ['GET /none', '00-', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', ''],
  tracestate: ['GET /none', 'a=', ''],
  'transfer-encoding': ['GET /none', 'chunked', ''],
  upgrade: ['GET /none', 'websocket', ''],
};

const ENDS = ['!', '', '"'];

/** A target has no white space: the parser of requests ends it there. */
function isSendable({ field, begin, repeated, end }: Hostile): boolean {
  return field !== ':target' || !/[^!-~]/.test(begin + repeated + end);
}

function longest(field: string): number {
  return field === ':body' ? LONGEST_BODY : LONGEST;
}

/** Every atom in every field, as often as fits, after what the field may well begin with. */
function everyAtom(): Hostile[] {
  return Object.entries(FIELDS)
    .flatMap(([field, [_line, ...begins]]) =>
      REPEATED.flatMap((repeated) =>
        ENDS.map((end, index) => ({
          field,
          begin: begins[index % begins.length] ?? '',
          repeated,
          times: Math.floor(longest(field) / repeated.length),
          end,
        })),
      ),
    )
    .filter(isSendable);
}

/** Several atoms repeated together, after any beginning. */
function anyHostile(): fc.Arbitrary<Hostile> {
  const begins = Object.values(FIELDS).flatMap(([_line, ...own]) => own);
  const size = fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));
  return fc
    .record({
      field: fc.constantFrom(...Object.keys(FIELDS)),
      own: fc.boolean(),
      any: fc.constantFrom(...begins),
      index: fc.nat(3),
      atoms: fc.array(fc.constantFrom(...REPEATED), { minLength: 1, maxLength: 4 }),
      size,
      end: fc.constantFrom(...ENDS, ...REPEATED),
    })
    .map(({ field, own, any, index, atoms, size, end }) => {
      const repeated = atoms.join('');
      const [_line, ...mine] = FIELDS[field] ?? [];
      const begin = own ? (mine[index % mine.length] ?? '') : any;
      return { field, begin, repeated, times: Math.floor((size * longest(field)) / repeated.length), end };
    })
    .filter(isSendable);
}

/** One answer, and what it cost. */
export interface Timed {
  readonly hostile: Hostile;
  /** Of the main thread. */
  readonly milliseconds: number;
}

/**
 * Sends every atom in every field, and `runs` values made of several, one after the other, and measures what each
 * answer costs. The slowest come first. Linux only.
 *
 * @throws {Error} with the value, when an answer costs more than the bound three times in a row.
 */
export async function fuzzTime({ runs, seed }: { runs: number; seed: number }): Promise<readonly Timed[]> {
  const auth = testAuth();
  const editor = `Bearer ${signer(auth)({ name: 'ada', role: 'editor' })}`;
  await using service = await startService({ auth, env: { TODO_CORS_ORIGINS: ORIGIN } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let slowest: Timed[] = [];
  try {
    // The first answers cost more: their code is compiled.
    const plain = { field: 'accept', begin: '*/*', repeated: '', times: 0, end: '' };
    for (let n = 0; n < 100; n += 1) await ask(service, requestOf(plain, editor), agent);
    for (const hostile of [...everyAtom(), ...fc.sample(anyHostile(), { numRuns: runs, seed })]) {
      const milliseconds = await cost(service, hostile, editor, agent);
      slowest = [...slowest, { hostile, milliseconds }]
        .sort((a, b) => b.milliseconds - a.milliseconds)
        .slice(0, 10);
    }
    return slowest;
  } finally {
    agent.destroy();
  }
}

/** The least of three, because the collector of garbage or another compilation may fall into one. */
async function cost(service: Running, hostile: Hostile, editor: string, agent: Agent): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3 && least > BOUND_MS; time += 1) {
    least = Math.min(
      least,
      await ask(service, requestOf(hostile, editor), agent).catch((error) => {
        throw new Error(`${describeHostile(hostile)}: ${error}`);
      }),
    );
  }
  if (least <= BOUND_MS) return least;
  throw new Error(`${describeHostile(hostile)} costs ${Math.round(least)} ms`);
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request that comes to where the value is read. */
function requestOf({ field, begin, repeated, times, end }: Hostile, editor: string): Sent {
  const value = begin + repeated.repeat(times) + end;
  const [method = '', path = ''] = FIELDS[field]?.[0].split(' ') ?? [];
  const headers = { authorization: editor, 'content-type': 'application/json' };
  if (field === ':target') return { method, path: value, headers };
  if (field === ':body') return { method, path, headers, body: value };
  const preflight = method === 'OPTIONS' ? { origin: ORIGIN, 'access-control-request-method': 'PUT' } : {};
  const sent = { method, path, headers: { ...headers, ...preflight, [field]: value } };
  return method.startsWith('P') ? { ...sent, body: '{"title":"x","categoryId":1}' } : sent;
}

/** What the answer cost the main thread, in milliseconds. A connection that is closed without an answer is one, too. */
async function ask({ baseUrl, pid, stop }: Running, { body, ...sent }: Sent, agent: Agent): Promise<number> {
  const before = mainThreadMs(pid);
  const { hostname, port } = new URL(baseUrl);
  const hopeless = new AbortController();
  const watch = setInterval(() => {
    if (mainThreadMs(pid) - before > HOPELESS_MS) hopeless.abort();
  }, 100);
  await askBy(agent, { hostname, port, ...sent, signal: hopeless.signal }, body).catch(() => undefined);
  clearInterval(watch);
  if (!hopeless.signal.aborted) return mainThreadMs(pid) - before;
  await stop('SIGKILL');
  throw new Error(`no answer after ${HOPELESS_MS} ms of the processor`);
}

/** For people: `accept: "a/b" + "; " × 7500 + "!"`. */
export function describeHostile({ field, begin, repeated, times, end }: Hostile): string {
  return `${field}: ${JSON.stringify(begin)} + ${JSON.stringify(repeated)} × ${times} + ${JSON.stringify(end)}`;
}
