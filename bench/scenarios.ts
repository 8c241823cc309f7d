import type { Algorithm } from './tokens.ts';

/** What every request of a scenario is drawn from; `requests.ts` makes them. */
export type Kind = 'one' | 'missing' | 'list' | 'create' | 'mix' | 'unknown-token';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  /** Todos in the database when the trial begins. */
  readonly todos: number;
  readonly connections: number;
  /** A trial takes at least so many seconds: few answers come in one. */
  readonly atLeastSeconds: number;
  readonly algorithm: Algorithm;
  readonly database: 'sqlite' | 'postgres';
  /** Writes happen, so each peer runs twice: with a sync in every commit and without. */
  readonly writes: boolean;
  /** How the trial is driven when it is not by load alone. */
  readonly drive?: 'start' | 'busy-list';
  readonly servers: readonly string[];
}

export function scenarioNamed(name: string): Scenario {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`Cannot find the scenario ${JSON.stringify(name)}`);
  return scenario;
}

const NODE_PEERS = ['express', 'fastify', 'hono-node'];
const BUN_PEERS = ['hono-bun', 'elysia-bun'];
const PEERS = [...NODE_PEERS, ...BUN_PEERS];
/** One of each runtime, where a scenario shows how things grow rather than who wins. */
const BEST = ['fastify', 'elysia-bun'];

const USUAL = {
  kind: 'one',
  todos: 10_000,
  connections: 64,
  atLeastSeconds: 1,
  algorithm: 'HS256',
  database: 'sqlite',
  writes: false,
} as const;

export const SCENARIOS: readonly Scenario[] = [
  {
    ...USUAL,
    name: 'one',
    title: 'One todo by id, HS256, 64 connections',
    servers: [
      'service-admin',
      'service',
      'service-cors',
      'service-traces',
      'service-log',
      'constant',
      'by-hand',
      ...PEERS,
      'fastify-cache',
    ],
  },
  {
    ...USUAL,
    name: 'one-1',
    title: 'One todo by id, HS256, 1 connection',
    connections: 1,
    servers: ['service', 'constant', ...BEST],
  },
  {
    ...USUAL,
    name: 'one-256',
    title: 'One todo by id, HS256, 256 connections',
    connections: 256,
    servers: ['service', 'constant', ...BEST],
  },
  {
    ...USUAL,
    name: 'one-rs256',
    title: 'One todo by id, RS256',
    algorithm: 'RS256',
    servers: ['service', ...PEERS, 'fastify-cache'],
  },
  {
    ...USUAL,
    name: 'one-es256',
    title: 'One todo by id, ES256',
    algorithm: 'ES256',
    servers: ['service', ...PEERS, 'fastify-cache'],
  },
  {
    ...USUAL,
    name: 'unknown-token',
    title: 'One todo by id, every request with an RS256 token that was never seen',
    kind: 'unknown-token',
    algorithm: 'RS256',
    servers: ['service', ...PEERS],
  },
  {
    ...USUAL,
    name: 'one-postgres',
    title: 'One todo by id, PostgreSQL',
    database: 'postgres',
    servers: ['service', 'pg-query'],
  },
  {
    ...USUAL,
    name: 'two-instances',
    title: 'One todo by id, PostgreSQL, one instance and two',
    database: 'postgres',
    servers: ['service', 'service-two'],
  },
  {
    ...USUAL,
    name: 'list-20',
    title: 'The list of 20 todos',
    kind: 'list',
    todos: 20,
    servers: ['service-admin', 'service', 'bytes', ...BEST],
  },
  {
    ...USUAL,
    name: 'list-1000',
    title: 'The list of 1,000 todos',
    kind: 'list',
    todos: 1_000,
    servers: ['service-admin', 'service', 'service-log', 'bytes', ...PEERS],
  },
  {
    ...USUAL,
    name: 'list-100000',
    title: 'The list of 100,000 todos, 4 connections',
    kind: 'list',
    todos: 100_000,
    connections: 4,
    atLeastSeconds: 4,
    servers: ['service', 'bytes', ...PEERS],
  },
  {
    ...USUAL,
    name: 'busy-list',
    title:
      'The list of 100,000 todos, 2 connections, while 10 todos a second are created and 8 connections read one todo',
    kind: 'list',
    todos: 100_000,
    connections: 2,
    atLeastSeconds: 4,
    drive: 'busy-list',
    servers: ['service', ...PEERS],
  },
  {
    ...USUAL,
    name: 'create',
    title: 'Create, 64 connections',
    kind: 'create',
    writes: true,
    servers: ['service-admin', 'service', 'service-log', ...PEERS, 'fastify-cache'],
  },
  {
    ...USUAL,
    name: 'create-1',
    title: 'Create, 1 connection',
    kind: 'create',
    connections: 1,
    writes: true,
    servers: ['service', ...BEST],
  },
  {
    ...USUAL,
    name: 'mix',
    title: '75 % read one, 15 % replace, 5 % list, 5 % create, over 1,000 todos',
    kind: 'mix',
    todos: 1_000,
    writes: true,
    servers: ['service', 'service-log', ...PEERS, 'fastify-cache'],
  },
  {
    ...USUAL,
    name: 'not-found',
    title: 'A todo that does not exist: the 404 problem',
    kind: 'missing',
    servers: ['service', 'service-log', ...BEST],
  },
  {
    ...USUAL,
    name: 'start',
    title: 'Start to first answer',
    drive: 'start',
    servers: ['service', 'constant', ...PEERS],
  },
];
