import type { Scenario } from './scenario.ts';

const about = { connections: 500, reads: true, todos: 1, megabytes: 120, processorSeconds: 2 };

function head(fields: string): Buffer {
  return Buffer.from(`POST /todos HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n${fields}\r\n{`);
}

export const manyFields: Scenario = {
  ...about,
  name: 'many-fields',
  what: '500 heads of 3,500 fields, and a body that does not end',
  bytes: () => head('a:\r\n'.repeat(3_500)),
};

export const longFields: Scenario = {
  ...about,
  name: 'long-fields',
  what: '500 heads of 90 fields of 170 bytes, and a body that does not end',
  bytes: () => head(Array.from({ length: 90 }, (_, n) => `a${n}: ${'b'.repeat(162)}\r\n`).join('')),
};
