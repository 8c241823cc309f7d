import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Algorithm, AUDIENCE, ISSUER } from './tokens.ts';

/** What a server is told, whichever it is. */
export interface Told {
  readonly port: number;
  /** Path of a SQLite file, or a connection string. */
  readonly database: string;
  readonly algorithm: Algorithm;
  readonly keyFile: string;
  /** Whether every commit is synced: a power cut then loses nothing that was answered. */
  readonly synced: boolean;
}

export interface Server {
  readonly name: string;
  readonly title: string;
  /** `floor`: what cannot be gone below, not something a user would pick. */
  readonly role: 'service' | 'peer' | 'floor';
  readonly runtime: 'node' | 'bun';
  /** The program's arguments. */
  readonly words: readonly string[];
  environment(told: Told): Readonly<Record<string, string>>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'aarch64' };

/**
 * Bun's executable out of its platform's package: no script has to run at installation. Undefined where there
 * is none, or where it does not run: it needs the GNU C library, and AVX2 on x86-64.
 */
const bunProgram = findBun();

function findBun(): string | undefined {
  const name = `@oven/bun-${process.platform}-${ARCHITECTURES[process.arch]}`;
  try {
    const program = createRequire(import.meta.url).resolve(`${name}/bin/bun`);
    return spawnSync(program, ['--version']).status === 0 ? program : undefined;
  } catch {
    return undefined;
  }
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
  words: [path('../dist/start.js'), 'serve'],
  environment: ({ port, database, algorithm, keyFile }) => ({
    TODO_PORT: String(port),
    TODO_DATABASE: database.includes('://') ? database : `sqlite:${database}`,
    TODO_AUTH_ISSUER: ISSUER,
    TODO_AUTH_AUDIENCE: AUDIENCE,
    [algorithm === 'HS256' ? 'TODO_AUTH_SECRET_FILE' : 'TODO_AUTH_KEYS_FILE']: keyFile,
    ...more,
  }),
});

const other = (role: 'peer' | 'floor', runtime: 'node' | 'bun', name: string, title: string): Server => ({
  name,
  title,
  role,
  runtime,
  words: [path(runtime === 'bun' ? `${role}s/${name}.ts` : `dist/${role}s/${name}.js`)],
  environment: ({ port, database, algorithm, keyFile, synced }) => ({
    PORT: String(port),
    DATABASE: database,
    ALGORITHM: algorithm,
    KEY_FILE: keyFile,
    ISSUER,
    AUDIENCE,
    SYNCHRONOUS: synced ? 'FULL' : 'NORMAL',
    NODE_ENV: 'production',
  }),
});

export const SERVERS: readonly Server[] = [
  service('service', 'todo-service'),
  service('service-admin', 'todo-service with the admin listener', { TODO_ADMIN_PORT: '0' }),
  service('service-log', 'todo-service with a log line per request', { TODO_LOG_LEVEL: 'debug' }),
  service('service-traces', 'todo-service with traces, 1 % sampled', {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  }),
  other('floor', 'node', 'constant', 'node:http, a constant'),
  other('floor', 'node', 'bytes', 'node:http, the bytes of the list'),
  other('floor', 'node', 'pg-query', 'node:http, a query by pg'),
  other('peer', 'node', 'express', 'Express'),
  other('peer', 'node', 'fastify', 'Fastify'),
  other('peer', 'node', 'hono-node', 'Hono on Node.js'),
  other('peer', 'bun', 'elysia-bun', 'Elysia on Bun'),
];

/** @throws Error when there is none of this name. */
export function serverNamed(name: string): Server {
  const server = SERVERS.find((one) => one.name === name);
  if (server === undefined) throw new Error(`Cannot find the server ${JSON.stringify(name)}`);
  return server;
}
