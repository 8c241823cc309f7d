import type { Scenario } from './scenario.ts';

const TODOS = 150_000;

/** Each connection changes a todo of another chunk, and asks twice for that version: what is asked for again is compressed. */
function changeAndAsk(token: string, index: number): Buffer {
  const body = JSON.stringify({ title: `Changed by ${index}`, categoryId: 1 });
  const fields = `Host: x\r\nAuthorization: Bearer ${token}\r\nAccept-Encoding: gzip\r\n`;
  const typed = `${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const id = 1 + ((index * 257) % TODOS);
  return Buffer.from(
    `PUT /todos/${id} HTTP/1.1\r\n${typed}\r\n${body}` +
      `HEAD /todos HTTP/1.1\r\n${fields}\r\nGET /todos HTTP/1.1\r\n${fields}\r\n`,
  );
}

const about = { bytes: changeAndAsk, reads: false, todos: TODOS, megabytes: 150 };

export const compressedVersions: Scenario = {
  ...about,
  name: 'compressed-versions',
  what: '150 readers of 150 versions of 150,000 todos in gzip, none read',
  connections: 150,
  opensEveryMs: 50,
  processorSeconds: 15,
};

export const manyCompressedVersions: Scenario = {
  ...about,
  name: 'many-compressed-versions',
  what: '1,000 readers of 1,000 versions of 150,000 todos in gzip, none read',
  connections: 1_000,
  opensEveryMs: 8,
  processorSeconds: 30,
};
