import { authentication } from './chapters/authentication.ts';
import { bodies } from './chapters/bodies.ts';
import { development } from './chapters/development.ts';
import { errorDemo } from './chapters/error-demo.ts';
import { firstStart } from './chapters/first-start.ts';
import { issuedTokens } from './chapters/issued-tokens.ts';
import { log } from './chapters/log.ts';
import { members } from './chapters/members.ts';
import { negotiation } from './chapters/negotiation.ts';
import { orderOfChecks } from './chapters/order-of-checks.ts';
import { everyResponse, problemDetails } from './chapters/problem-details.ts';
import { repeatedCreates, repeatingCallers } from './chapters/repeated-creates.ts';
import { routes } from './chapters/routes.ts';
import { sharedList } from './chapters/shared-list.ts';
import { tokens } from './chapters/tokens.ts';
import { transport } from './chapters/transport.ts';
import { leftOut } from './check.ts';
import type { Target } from './target.ts';

let held: Target | undefined;

/** Chooses what `suite.ts` holds to the specification. */
export function holdTarget(target: Target): void {
  held = target;
}

/** States every check that the chosen service can be held to. @throws {Error} before one was chosen. */
export function stateHeldChecks(): void {
  if (held === undefined) throw new Error('Cannot test: no service was chosen');
  stateChecks(held);
}

/**
 * States every check that this service can be held to, in the order in which they must run, and what it cannot be held
 * to. What they make is deleted by `leaveAsFound`.
 */
export function stateChecks(target: Target): void {
  if (target.fresh) firstStart(target);
  else leftOut('D2, D5 (ids used up), D7 (a service just started)');
  if (target.profile === 'error-demo') errorDemo(target);
  routes(target);
  transport(target);
  problemDetails(target);
  negotiation(target);
  if (target.profile === 'shared-list') {
    authentication(target);
    if (target.sign === undefined) leftOut('A2, A5 to A10 (tokens made at will)');
    else tokens(target, target.sign);
    if (target.makeToken === undefined) leftOut('Authentication 6 to 8 (several tokens of each kind)');
    else issuedTokens(target, target.makeToken);
    orderOfChecks(target);
    bodies(target);
    members(target);
    sharedList(target);
    repeatedCreates(target);
    if (target.sign === undefined) leftOut('I1, I5 (callers of other subjects, and of none)');
    else repeatingCallers(target, target.sign);
  }
  if (target.log === undefined) leftOut('P5 and Errors 3 (the log)');
  else log(target, target.log);
  if (target.environment === undefined) leftOut('D3, Versioning 1 (the environment is unknown)');
  else development(target, target.environment);
  everyResponse(target);
}
