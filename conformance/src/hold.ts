import { AssertionError } from 'node:assert';
import { inspect } from 'node:util';
import type { Check } from './check.ts';
import type { Target } from './target.ts';

/** What became of one check. */
export interface Outcome {
  readonly check: Check;
  readonly milliseconds: number;
  /** Undefined when the service does what the check asks. */
  readonly failure?: Failure;
}

export interface Failure {
  readonly message: string;
  /** Undefined when the failure is no comparison. */
  readonly expected: string | undefined;
  readonly received: string | undefined;
  /** The last request before the failure, with its answer. */
  readonly lastAsked: string | undefined;
}

/** Characters of an answer's body that a failure shows. */
const SHOWN = 400;

/** Runs the checks one after the other: their order matters, and so does what a service is asked at the same time. */
export async function* hold(target: Target, checks: readonly Check[]): AsyncGenerator<Outcome> {
  for (const check of checks) {
    const began = performance.now();
    const failure = await failureOf(target, check);
    const milliseconds = performance.now() - began;
    yield failure === undefined ? { check, milliseconds } : { check, milliseconds, failure };
  }
}

async function failureOf(target: Target, { run }: Check): Promise<Failure | undefined> {
  const asked = target.seen.length;
  try {
    await run();
    return undefined;
  } catch (error) {
    const compared = error instanceof AssertionError && error.operator !== 'fail' && error.operator !== '==';
    return {
      message: error instanceof Error ? plain(error.message) : inspect(error),
      expected: compared ? shown(error.expected) : undefined,
      received: compared ? shown(error.actual) : undefined,
      lastAsked: target.seen.length > asked ? lastAskedOf(target) : undefined,
    };
  }
}

/** The first lines; node:assert shows the values below them, which have lines of their own here. */
function plain(message: string): string {
  return (message.split(/\n\n|\n[+-] (?:actual|expected)/)[0] ?? '').trim();
}

function shown(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: 110, maxStringLength: 1_000 });
}

function lastAskedOf({ seen }: Target): string | undefined {
  const last = seen.at(-1);
  if (last === undefined) return undefined;
  const { method, path, reply } = last;
  const headers = reply.headers.map(([name, value]) => `${name}: ${value}`);
  const body = reply.body.toString().slice(0, SHOWN);
  return [`${method} ${path}`, `HTTP ${reply.status}`, ...headers, ...(body === '' ? [] : ['', body])].join(
    '\n',
  );
}
