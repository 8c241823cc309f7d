import type { Scenario } from './scenario.ts';

export const unreadLists: Scenario = {
  name: 'unread-lists',
  what: '50 readers of 200 lists of 6,000 todos, none read',
  connections: 50,
  bytes: (token) =>
    Buffer.from(`GET /todos HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(200)),
  reads: false,
  todos: 6_000,
  megabytes: 80,
  processorSeconds: 2,
};
