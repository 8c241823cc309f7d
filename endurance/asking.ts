import { Agent, request } from 'node:http';

/** What came of a request. The body was read to its end, and thrown away. */
export interface Asked {
  readonly status: number;
  readonly etag: string;
  readonly bytes: number;
  /** From the request to the end of the answer. */
  readonly ms: number;
}

type Headers = Readonly<Record<string, string>>;

export type Ask = (method: string, path: string, body?: object, more?: Headers) => Promise<Asked>;

/** Asks a service, over connections that are kept. */
export function asking(url: string, authorization: string): Ask & Disposable {
  const agent = new Agent({ keepAlive: true });
  const ask: Ask = (method, path, body, more) => {
    const began = performance.now();
    const headers = { authorization, 'content-type': 'application/json', ...more };
    return new Promise((resolve, reject) => {
      request(url + path, { method, headers, agent }, (answer) => {
        let bytes = 0;
        answer.on('data', ({ length }: Buffer) => {
          bytes += length;
        });
        answer.once('error', reject);
        answer.once('end', () => {
          const { statusCode: status = 0, headers: found } = answer;
          resolve({ status, etag: String(found.etag), bytes, ms: performance.now() - began });
        });
      })
        .once('error', reject)
        .end(body === undefined ? '' : JSON.stringify(body));
    });
  };
  return Object.assign(ask, { [Symbol.dispose]: () => agent.destroy() });
}
