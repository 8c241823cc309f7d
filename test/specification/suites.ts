import { after, describe } from 'node:test';
import { authentication } from './authentication.ts';
import { bodies } from './bodies.ts';
import { development } from './development.ts';
import { errorDemo } from './error-demo.ts';
import { firstStart } from './first-start.ts';
import { log } from './log.ts';
import { members } from './members.ts';
import { negotiation } from './negotiation.ts';
import { orderOfChecks } from './order-of-checks.ts';
import { everyResponse, problemDetails } from './problem-details.ts';
import { routes } from './routes.ts';
import { sharedList } from './shared-list.ts';
import { leaveAsFound, type Target } from './target.ts';
import { tokens } from './tokens.ts';
import { transport } from './transport.ts';

/**
 * Registers every suite that this service can be held to, and tells in `target.leftOut` what it cannot. What the
 * tests made is deleted at the end, whether or not they failed.
 */
export function specification(name: string, target: Target): void {
  describe(name, () => {
    after(() => leaveAsFound(target));
    if (target.startedByTest) firstStart(target);
    else target.leftOut.push('D2, D5 (ids used up), D7 (a service just started)');
    if (target.profile === 'error-demo') errorDemo(target);
    routes(target);
    transport(target);
    problemDetails(target);
    negotiation(target);
    if (target.profile === 'shared-list') {
      authentication(target);
      if (target.sign === undefined) target.leftOut.push('A2, A5 to A11 (tokens made at will)');
      else tokens(target, target.sign);
      orderOfChecks(target);
      bodies(target);
      members(target);
      sharedList(target);
    }
    if (target.log === undefined) target.leftOut.push('P5 and Errors 3 (the log)');
    else log(target, target.log);
    if (target.environment === undefined)
      target.leftOut.push('D3, Versioning 1 (the environment is unknown)');
    else development(target, target.environment);
    everyResponse(target);
  });
}
