import { afterEach, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { authentication } from './chapters/authentication.ts';
import { bodies } from './chapters/bodies.ts';
import { development } from './chapters/development.ts';
import { errorDemo } from './chapters/error-demo.ts';
import { firstStart } from './chapters/first-start.ts';
import { issuedTokens } from './chapters/issued-tokens.ts';
import { log as logChapter } from './chapters/log.ts';
import { members } from './chapters/members.ts';
import { negotiation } from './chapters/negotiation.ts';
import { orderOfChecks } from './chapters/order-of-checks.ts';
import { everyResponse, everySuccess, problemDetails } from './chapters/problem-details.ts';
import { repeatedCreates, repeatingCallers } from './chapters/repeated-creates.ts';
import { routes } from './chapters/routes.ts';
import { sharedList } from './chapters/shared-list.ts';
import { tokens } from './chapters/tokens.ts';
import { transport } from './chapters/transport.ts';
import type { Exchange, Target } from './target.ts';

let held: Target | undefined;
let ended = false;

/** Chooses the service that `suite.ts` checks. */
export function holdTarget(target: Target): void {
  held = target;
}

/** Lets the check that is under way end, and runs no further one. */
export function endChecks(): void {
  ended = true;
}

/** States every check for the chosen service. @throws {Error} before one was chosen. */
export function stateHeldChecks(): void {
  if (held === undefined) throw new Error('Cannot test: no service was chosen');
  stateChecks(held);
}

/**
 * States every check for this service, in the order in which they must run, and the checks that it cannot have. Todos of
 * the checks are deleted by `leaveAsFound`.
 */
export function stateChecks(target: Target): void {
  let seenBefore = 0;
  beforeEach(() => {
    if (ended) throw new Error('ended');
    seenBefore = target.seen.length;
  });
  afterEach((t) => {
    const last = target.seen.slice(seenBefore).at(-1);
    if ('passed' in t && !t.passed && last !== undefined) t.diagnostic(textOf(last));
  });
  if (target.fresh) describe('First start', () => firstStart(target));
  else test.skip('a service just started, and ids used up [D2; D5; D7]');
  if (target.profile === 'error-demo') describe('Error demo', () => errorDemo(target));
  describe('Routes', () => routes(target));
  describe('Transport', () => transport(target));
  describe('Problem Details', () => problemDetails(target));
  describe('Negotiation', () => negotiation(target));
  if (target.profile === 'shared-list') {
    const { sign, makeToken } = target;
    describe('Authentication', () => authentication(target));
    if (sign === undefined) test.skip('tokens made at will [A2; A5; A6; A7; A8; A9; A10]');
    else describe('Tokens', () => tokens(target, sign));
    if (makeToken === undefined)
      test.skip('several tokens of each kind [Authentication 6; Authentication 7; Authentication 8]');
    else describe('Issued tokens', () => issuedTokens(target, makeToken));
    describe('Order of checks', () => orderOfChecks(target));
    describe('Requests with a body', () => bodies(target));
    describe('Members of a body', () => members(target));
    describe('Shared list', () => sharedList(target));
    describe('A create that may be repeated', () => repeatedCreates(target));
    if (sign === undefined) test.skip('callers of other subjects, and of none [I1; I5]');
    else describe('Callers who repeat', () => repeatingCallers(target, sign));
  }
  const { log, environment } = target;
  if (log === undefined) test.skip('the log [P5; Errors 3]');
  else describe('Log', () => logChapter(target, log));
  if (environment === undefined) test.skip('the environment is unknown [D3; Versioning 1]');
  else describe('Documents', () => development(target, environment));
  describe('Every response', () => {
    everyResponse(target);
    everySuccess(target);
  });
}

/** The last request of a failed check, and the answer. */
function textOf({ method, path, reply }: Exchange): string {
  const headers = reply.headers.map((header) => header.join(': '));
  const received = inspect([...headers, reply.body.toString().slice(0, 400)], {
    breakLength: Number.POSITIVE_INFINITY,
  });
  return `asked ${method} ${path}, received ${reply.status} ${received}`;
}
