import type { Algorithm } from './tokens.ts';

/** What the requests of a scenario are; `requests.ts` makes them. */
export type Kind = 'one' | 'missing' | 'list' | 'create' | 'mix' | 'first-seen';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  /** Todos in the database when it begins. */
  readonly todos: number;
  readonly connections: number;
  /** A measurement takes at least so many seconds: few answers come in one. */
  readonly atLeastSeconds: number;
  readonly algorithm: Algorithm;
  readonly database: 'sqlite' | 'postgres';
  /** Whether peers sync every commit. The service always does. */
  readonly synced: boolean;
  /** Whether todos are created, and one todo is read, beside the requests. */
  readonly busy: boolean;
  readonly servers: readonly string[];
}

const PEERS = ['express', 'fastify', 'hono-node', 'elysia-bun'];
/** One of each runtime, where a scenario shows how things grow rather than what to take. */
const SOME = ['fastify', 'elysia-bun'];
const VARIANTS = ['service-admin', 'service-log', 'service-traces'];

const USUAL = {
  kind: 'one',
  todos: 10_000,
  connections: 64,
  atLeastSeconds: 1,
  algorithm: 'HS256',
  database: 'sqlite',
  synced: true,
  busy: false,
  servers: ['service', ...PEERS],
} as const;

const MANY = { ...USUAL, kind: 'list', todos: 100_000, connections: 4, atLeastSeconds: 4 } as const;
const MIX = { ...USUAL, kind: 'mix', todos: 1_000 } as const;

/** Always measured: its table has every server. */
export const ONE: Scenario = {
  ...USUAL,
  name: 'one',
  title: 'One todo by id',
  servers: ['service', ...VARIANTS, 'constant', ...PEERS],
};

export const SCENARIOS: readonly Scenario[] = [
  ONE,
  { ...USUAL, name: 'one-rs256', title: 'One todo, RS256', algorithm: 'RS256' },
  {
    ...USUAL,
    name: 'first-seen',
    title: 'One todo, each token seen for the first time, RS256',
    kind: 'first-seen',
    algorithm: 'RS256',
  },
  {
    ...USUAL,
    name: 'one-postgres',
    title: 'One todo, PostgreSQL',
    database: 'postgres',
    servers: ['service', 'pg-query'],
  },
  {
    ...USUAL,
    name: 'not-found',
    title: 'A todo that does not exist: a 404 problem',
    kind: 'missing',
    servers: ['service', ...SOME],
  },
  {
    ...USUAL,
    name: 'list-1000',
    title: 'The list of 1,000 todos',
    kind: 'list',
    todos: 1_000,
    servers: ['service', 'bytes', ...PEERS],
  },
  {
    ...MANY,
    name: 'list-100000',
    title: 'The list of 100,000 todos, 4 connections',
    servers: ['service', 'bytes', ...PEERS],
  },
  {
    ...MANY,
    name: 'busy-list',
    title: 'The same, 2 connections, beside 10 creates a second and 8 readers of one todo',
    connections: 2,
    busy: true,
  },
  { ...USUAL, name: 'create', title: 'Create', kind: 'create' },
  { ...USUAL, name: 'create-unsynced', title: 'Create, peers do not sync', kind: 'create', synced: false },
  {
    ...USUAL,
    name: 'create-1',
    title: 'Create, 1 connection',
    kind: 'create',
    connections: 1,
    servers: ['service', ...SOME],
  },
  { ...MIX, name: 'mix', title: '75 % read one, 15 % replace, 5 % list, 5 % create; 1,000 todos' },
  { ...MIX, name: 'mix-unsynced', title: 'The same, peers do not sync', synced: false },
];
