import type { Scenario } from './scenario.ts';

/** Below the limit of a body, which does not end. */
const CHUNKS = 65_000;

const about = {
  connections: 60,
  reads: true,
  todos: 1,
  megabytes: 60,
  processorSeconds: 8,
};

function post(fields: string): Buffer {
  const head = `POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${fields}Transfer-Encoding: chunked\r\n\r\n`;
  return Buffer.from(head + '1\r\n \r\n'.repeat(CHUNKS));
}

export const withoutToken: Scenario = {
  ...about,
  name: 'chunks-without-token',
  what: '60 bodies in chunks of one byte, without a token',
  bytes: () => post(''),
};

export const withToken: Scenario = {
  ...about,
  name: 'chunks-with-token',
  what: '60 bodies in chunks of one byte, with a token',
  bytes: (token) => post(`Authorization: Bearer ${token}\r\n`),
};
