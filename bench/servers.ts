import { fileURLToPath } from 'node:url';
import { bunProgram } from './bun.ts';
import type { Algorithm } from './tokens.ts';

/** `relaxed`: a power cut may lose commits that were answered. `durable`: it may not. */
export type Durability = 'durable' | 'relaxed';

/** What a server is told, whichever it is. */
export interface Surroundings {
  readonly port: number;
  /** Path of a SQLite file, or a connection string. */
  readonly database: string;
  readonly algorithm: Algorithm;
  readonly keyFile: string;
  readonly issuer: string;
  readonly audience: string;
  readonly durability: Durability;
  /** Folder for the CPU profiles of a server on Node.js that ends by itself at SIGTERM. */
  readonly profile?: string | undefined;
}

export interface Server {
  readonly name: string;
  readonly title: string;
  /** `floor`: what cannot be gone below, not something a user would pick. */
  readonly role: 'service' | 'peer' | 'floor';
  readonly runtime: 'node' | 'bun';
  /** Knows tokens, roles and bodies. */
  readonly checksTokens: boolean;
  /** Processes of it, each on a core of its own. */
  readonly instances: number;
  arguments(surroundings: Surroundings): readonly string[];
  environment(surroundings: Surroundings): Readonly<Record<string, string>>;
}

/** The program that runs a server; undefined when this machine cannot. */
export function programOf({ runtime }: Server): string | undefined {
  return runtime === 'node' ? process.execPath : bunProgram;
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const service = (name: string, title: string, more: Readonly<Record<string, string>> = {}): Server => ({
  name,
  title,
  role: 'service',
  runtime: 'node',
  checksTokens: true,
  instances: name === 'service-two' ? 2 : 1,
  arguments: () => [path('../dist/start.js'), 'serve'],
  environment: ({ port, database, algorithm, keyFile, issuer, audience }) => ({
    TODO_PORT: String(port),
    TODO_DATABASE: database.includes('://') ? database : `sqlite:${database}`,
    TODO_AUTH_ISSUER: issuer,
    TODO_AUTH_AUDIENCE: audience,
    [algorithm === 'HS256' ? 'TODO_AUTH_SECRET_FILE' : 'TODO_AUTH_KEYS_FILE']: keyFile,
    ...more,
  }),
});

const other = (
  role: 'peer' | 'floor',
  runtime: 'node' | 'bun',
  name: string,
  title: string,
  more: Readonly<Record<string, string>> = {},
): Server => ({
  name,
  title,
  role,
  runtime,
  checksTokens: role === 'peer',
  instances: 1,
  arguments: () => {
    const file = `${role}s/${name.replace('-cache', '')}`;
    return [path(runtime === 'bun' ? `${file}.ts` : `dist/${file}.js`)];
  },
  environment: ({ port, database, algorithm, keyFile, issuer, audience, durability }) => ({
    PORT: String(port),
    DATABASE: database,
    ALGORITHM: algorithm,
    KEY_FILE: keyFile,
    ISSUER: issuer,
    AUDIENCE: audience,
    SYNCHRONOUS: durability === 'durable' ? 'FULL' : 'NORMAL',
    NODE_ENV: 'production',
    ...more,
  }),
});

export const SERVERS: readonly Server[] = [
  service('service-admin', 'todo-service with the admin listener', { TODO_ADMIN_PORT: '0' }),
  service('service', 'todo-service, nothing on'),
  service('service-cors', 'todo-service with an allowed origin', {
    TODO_CORS_ORIGINS: 'https://app.example',
  }),
  service('service-traces', 'todo-service with traces, 1 % sampled', {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  }),
  service('service-log', 'todo-service with a log line per request', { TODO_LOG_LEVEL: 'debug' }),
  service('service-two', 'todo-service, two instances on two cores'),
  other('floor', 'node', 'constant', 'node:http, a constant'),
  other('floor', 'node', 'by-hand', 'node:http, token and SQL by hand'),
  other('floor', 'node', 'bytes', 'node:http, the bytes of the list'),
  other('floor', 'node', 'pg-query', 'node:http, a query by pg'),
  other('peer', 'node', 'express', 'Express, jsonwebtoken, better-sqlite3'),
  other('peer', 'node', 'fastify', 'Fastify, @fastify/jwt, better-sqlite3'),
  other('peer', 'node', 'fastify-cache', 'Fastify, @fastify/jwt with its token cache, better-sqlite3', {
    TOKEN_CACHE: 'on',
  }),
  other('peer', 'node', 'hono-node', 'Hono on Node.js, better-sqlite3'),
  other('peer', 'bun', 'hono-bun', 'Hono on Bun, bun:sqlite'),
  other('peer', 'bun', 'elysia-bun', 'Elysia on Bun, bun:sqlite'),
];

export function serverNamed(name: string): Server {
  const server = SERVERS.find((one) => one.name === name);
  if (server === undefined) throw new Error(`Cannot find the server ${JSON.stringify(name)}`);
  return server;
}
