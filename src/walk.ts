import { and } from './and.ts';
import type { Admit } from './auth/admit.ts';
import type { Answer } from './http/message/answer.ts';
import type { Call } from './http/message/call.ts';
import type { Cors } from './http/message/cors.ts';
import { readJson } from './http/message/read-json.ts';
import type { Route } from './http/message/routes.ts';

/**
 * From a matched request to its answer: the order of checks of the contract, 2 to 5, written once. What throws or
 * rejects on the way is not caught here.
 *
 * @param cors undefined when no origin is allowed.
 */
export function openWalk(admit: Admit, cors: Cors | undefined): (call: Call) => Answer | Promise<Answer> {
  return (call) => {
    if (call.found === undefined) return { status: 404 };
    const { route, allow } = call.found;
    if (route === undefined) return cors?.preflight(call, allow) ?? { status: 405, headers: { allow } };
    return and(admitted(call, route), (refusal) => refusal ?? handled(call, route));
  };

  /** While a token is being verified, no more is read of the body than has come with the head. */
  function admitted(call: Call, { access }: Route) {
    const refusal = admit(call, access);
    if (refusal instanceof Promise && call.body !== undefined) call.connection.intake.holdFor(refusal);
    return refusal;
  }

  function handled(call: Call, route: Route): Answer | Promise<Answer> {
    if (route.parse !== undefined) {
      return and(readJson(call.headers, call.body, route.parse), (read) =>
        'problem' in read ? read.problem : route.handle(call, read.value),
      );
    }
    if (call.body === undefined) return route.handle(call, undefined);
    return call.body
      .end()
      .then((end) => (end === 'complete' ? route.handle(call, undefined) : { status: end }));
  }
}
