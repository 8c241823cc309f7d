import { describeRefusal, type Refusal } from './token/refusal.ts';

const BEARER = 'Bearer realm="todo-service"';

/** 401 without credentials: RFC 6750 §3.1 gives no error code to a request that carries none (contract A1). */
export const CREDENTIALS_MISSING = BEARER;

/** 403: the token is good and its roles do not suffice (contract A3). */
export const INSUFFICIENT_SCOPE = `${BEARER}, error="insufficient_scope"`;

/** 401 for a token that failed, RFC 6750 §3 (contract A2). */
export function invalidToken(refusal: Refusal): string {
  return `${BEARER}, error="invalid_token", error_description="${describeRefusal(refusal)}"`;
}
