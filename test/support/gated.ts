import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { Answer } from '../../src/http/answer.ts';
import { withBody } from '../../src/http/json-body.ts';
import { type DemoOptions, get, setClocks, startDemo } from './demo.ts';
import { Connection } from './raw.ts';

/** A request for the endpoint of `startGated`. */
export const WAIT = 'GET /wait HTTP/1.1\r\nHost: a\r\n\r\n';

/** The same with a body. */
export const WAIT_WITH_BODY =
  'POST /wait HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

/** A demo with an endpoint that answers when the gate is opened, and a connection to it; nobody is slow as yet. */
export async function startGated({ routes = [], ...options }: DemoOptions = {}) {
  const gate = Promise.withResolvers<Answer>();
  let underWay = 0;
  let parsed = 0;
  const wait = () => {
    underWay += 1;
    return gate.promise;
  };
  const post = { method: 'POST', path: '/wait', access: 'open' } as const;
  const waiting = [get('/wait', wait), withBody(post, (value) => ({ value }), wait)];
  const parts = new AsyncDisposableStack();
  const demo = parts.use(await startDemo({ ...options, routes: [...waiting, ...routes] }));
  setClocks(demo);
  demo.server.prependListener('request', () => {
    parsed += 1;
  });
  const connection = parts.use(await Connection.to(demo.server));
  return {
    demo,
    connection,
    underWay: () => underWay,
    parsed: () => parsed,
    /** Writes what begins with a request for that endpoint, and waits until it is under way. */
    async ask(bytes: string): Promise<void> {
      connection.socket.write(bytes);
      await settled(() => underWay);
    },
    open: () => gate.resolve({ status: 200, body: 'x', headers: { 'content-type': 'text/plain' } }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Waits until the server has read nothing more for a while. */
export async function settled(count: () => number): Promise<number> {
  let before = -1;
  for (let now = count(); now !== before || now === 0; now = count()) {
    before = now;
    for (let turns = 0; turns < 20; turns += 1) await pause(1);
    await turn();
  }
  return before;
}
