import { actor, type Tell } from '../events.ts';
import type { Answer } from '../http/message/answer.ts';
import type { Call } from '../http/message/routes.ts';
import { andThen } from '../promises.ts';
import type { Authenticate } from './authenticate.ts';
import type { Identity } from './identity.ts';
import { INSUFFICIENT_SCOPE } from './token/refusal.ts';

/** Who may call a route. Every route states it; the method alone never decides (specification, Endpoints, rule 4). */
export type Access = 'open' | 'authenticated' | 'CanWriteTodos';

/**
 * Lets a caller in, who is then `call.identity`: identified, else 401 or 503; allowed, else 403 (contract, Order of
 * checks 3). Undefined when the request may go on.
 */
export type Admit = (call: Call, access: Access) => Answer | undefined | Promise<Answer | undefined>;

/** Characters. A `kid` in the log is for people and may be anybody's text. */
const MAX_LOGGED_KEY_ID = 100;

/** The way in for callers with bearer tokens. */
export function admitWith(authenticate: Authenticate, tell: Tell): Admit {
  return (call, access) => {
    if (access === 'open') return undefined;
    const verdict = call.step(
      'authenticate',
      () => authenticate(call.headers.authorization),
      ({ code }) => code,
    );
    return andThen(verdict, (result) => {
      if ('answer' in result) {
        const { code, keyId, answer } = result;
        if (code !== 'credentials-missing' && code !== 'keys-unavailable') {
          const kid = keyId?.slice(0, MAX_LOGGED_KEY_ID);
          tell({ event: 'token-refused', code, kid, traceId: call.traceId });
        }
        return answer;
      }
      const { identity } = result;
      if (access === 'CanWriteTodos' && !canWriteTodos(identity)) {
        const { method, found, traceId } = call;
        tell({ event: 'todo-write-refused', method, id: found?.id, ...actor(identity), traceId });
        return { status: 403, headers: { 'www-authenticate': INSUFFICIENT_SCOPE } };
      }
      call.identity = identity;
      return undefined;
    });
  };
}

/**
 * The write policy `CanWriteTodos`: the role `editor`, lower case, exact match (specification,
 * Authentication 3). It looks at the role alone, never at who made a todo.
 */
export function canWriteTodos({ roles }: Identity): boolean {
  return roles.includes('editor');
}
