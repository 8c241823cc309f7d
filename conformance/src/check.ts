import { AssertionError } from 'node:assert';
import { test as register } from 'node:test';
import { inspect, stripVTControlCharacters } from 'node:util';
import { holdsToContract } from './problem.ts';
import { type Exchange, lastExchange } from './target.ts';

/** A row of the contract, or a step of its order of checks. Any other clause is one of the specification. */
const CONTRACT = /^(?:[RPNBADI]\d+|Order \d|One request gets one answer)$/;

/** Characters of an answer's body that a failure shows. */
const SHOWN = 400;

let ended = false;

/** Lets the check that is under way come to its end, and runs no other. */
export function endChecks(): void {
  ended = true;
}

/**
 * States a check of `node:test`, unless it shows clauses of the contract alone and a service is held to the
 * specification alone. Its failure has what was expected, what was received and what was asked last.
 *
 * @param name What it shows, behind the clauses: `A3, Authentication 3, 5 · without …`.
 */
export function test(name: string, run: () => void | Promise<void>): void {
  const clauses = (name.split(' · ')[0] ?? '').split(', ');
  if (!holdsToContract() && clauses.every((clause) => CONTRACT.test(clause))) return;
  register(name, async (t) => {
    if (ended) return t.skip('ended');
    const before = lastExchange();
    try {
      await run();
    } catch (error) {
      const last = lastExchange();
      throw failure(error, last === before ? undefined : last);
    }
  });
}

/** Says which clauses a service cannot be held to: a skipped test. @param clauses With what was missing, in parentheses. */
export function leftOut(clauses: string): void {
  register(clauses, { skip: 'left out' }, () => {});
}

function failure(error: unknown, asked: Exchange | undefined): Error {
  const compared = error instanceof AssertionError && error.operator !== 'fail' && error.operator !== '==';
  const parts = [
    error instanceof Error ? plain(error.message) : inspect(error),
    ...(compared ? [`expected  ${shown(error.expected)}`, `received  ${shown(error.actual)}`] : []),
    ...(asked === undefined ? [] : [`asked     ${exchangeText(asked)}`]),
  ];
  const text = parts.map((part) => part.replaceAll('\n', '\n          ')).join('\n');
  // Without the characters that no report can show: the service under test has sent some of it.
  const failed = new Error(text.replaceAll(/[^\n\P{C}]/gu, '\ufffd'));
  // Where the suite compared says little to who tests a service: one line of it.
  const place = error instanceof Error ? /\n +at .*chapters.*/.exec(error.stack ?? '')?.[0] : undefined;
  failed.stack = failed.message + (place ?? '');
  return failed;
}

/** The first lines; node:assert shows the values below them, which have lines of their own here. */
function plain(message: string): string {
  return (stripVTControlCharacters(message).split(/\n\n|\n[+-] (?:actual|expected)/)[0] ?? '').trim();
}

function shown(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: 110, maxStringLength: 1_000 });
}

function exchangeText({ method, path, reply }: Exchange): string {
  const headers = reply.headers.map(([name, value]) => `${name}: ${value}`);
  const body = reply.body.toString().slice(0, SHOWN);
  const lines = [`${method} ${path}`, `HTTP ${reply.status}`, ...headers, ...(body === '' ? [] : ['', body])];
  return lines.join('\n');
}
