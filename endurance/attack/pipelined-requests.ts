import type { Scenario } from './scenario.ts';

const BYTES = 3_000_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

export const pipelinedRequests: Scenario = {
  name: 'pipelines',
  what: '10 connections with 3 MB of requests each, no answer read',
  connections: 10,
  bytes: () => Buffer.from(REQUEST.repeat(BYTES / REQUEST.length)),
  reads: false,
  todos: 1,
  megabytes: 60,
  processorSeconds: 3,
};
