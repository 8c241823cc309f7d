import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** A header's value; empty when it is missing. */
  header(name: 'content-type' | 'location'): string;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  /** JSON. */
  readonly body?: string;
}

/** Sends one request over a connection of its own. */
export async function ask(port: number, { method, path, token, body }: Question): Promise<Answer> {
  const headers = headersOf(token, body);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
    text(response).then((received) => {
      resolve({
        status: response.statusCode ?? 0,
        body: received,
        header: (name) => response.headers[name] ?? '',
      });
    }, reject);
  });
  sent.once('error', reject);
  sent.end(body);
  return promise;
}

export function headersOf(token: string, body: string | undefined): Record<string, string> {
  return {
    ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
}
