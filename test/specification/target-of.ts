import { randomBytes } from 'node:crypto';
import { after, describe } from 'node:test';
import { stateChecks } from '../../packages/conformance/src/checks.ts';
import { signer } from '../../packages/conformance/src/sign.ts';
import {
  type ErrorDemo,
  leaveAsFound,
  type SharedList,
  type Target,
} from '../../packages/conformance/src/target.ts';
import { assertDescribed } from '../openapi/check-response.ts';
import { targetOf } from '../support/demo.ts';
import type { Running } from '../support/start.ts';

/** What the services that these tests start trust: one HMAC secret, long enough for each of its algorithms. */
export const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };

const sign = signer(auth);

/** A service that the tests started with `auth`, as a target. */
export function sharedListOf(service: Running, environment: 'development' | 'production'): SharedList {
  const tokens = {
    editor: sign({ sub: 'ada', name: 'Ada', role: 'editor' }),
    reader: sign({ sub: 'bob', name: 'Bob' }),
  };
  const makeToken = async (name: string, role?: string) => sign({ sub: name, name, role });
  return { profile: 'shared-list', tokens, sign, makeToken, ...common(service, environment) };
}

/** Holds the conformance suite against a target. */
export function hold(name: string, target: Target): void {
  describe(name, () => {
    after(() => leaveAsFound(target));
    stateChecks(target);
  });
}

/** An error demo that the tests started, as a target. */
export function errorDemoOf(service: Running, environment: 'development' | 'production'): ErrorDemo {
  return { profile: 'error-demo', ...common(service, environment) };
}

function common(service: Running, environment: 'development' | 'production') {
  const log = () => service.stdout() + service.stderr();
  return { ...targetOf(service.baseUrl), environment, fresh: true, log, assertDescribed };
}
