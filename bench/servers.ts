import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Trust } from '../packages/conformance/src/sign.ts';
import { startService, untilServing } from '../test/support/start.ts';
import type { Engine } from './databases.ts';
import { lackOfGroups } from './limit.ts';
import * as products from './products.ts';

export interface Server {
  readonly name: string;
  readonly title: string;
  readonly engine: Engine;
  /** Processes that serve the same database and share the load, each with a part of a processor. */
  readonly instances?: number;
  /** A product's own API. */
  readonly dialect?: products.Dialect;
  /** A command that builds or tries it; where that fails, this machine cannot run it. */
  readonly build?: readonly string[] | undefined;
  /** Starts it on a database of its own, `sqlite:/…` or `postgres://…`. */
  start(url: string, trust: Trust): Promise<products.Started>;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const service = (name: string, title: string, engine: Engine, env = {}): Server => ({
  name,
  title,
  engine,
  start: (url, auth) =>
    startService({ auth, environment: 'production', built: true, args: ['--database', url], env }),
});

interface Program {
  readonly words: readonly string[];
  readonly build?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

function peer(
  name: string,
  title: string,
  { words, build, env }: Program,
  engine: Engine = 'SQLite',
): Server {
  const [program = '', ...rest] = words;
  return {
    name,
    title,
    engine,
    build,
    start(url, { issuer, audience, secret }) {
      const database = url.replace('sqlite:', '');
      const told = { DATABASE: database, ISSUER: issuer, AUDIENCE: audience, SECRET: String(secret) };
      const all = { PATH: process.env.PATH, NODE_ENV: 'production', ...told, ...env };
      const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: all });
      const kill = () => child.kill('SIGKILL');
      process.once('exit', kill);
      child.once('exit', () => process.off('exit', kill));
      return untilServing(child);
    },
  };
}

/** Why this machine cannot run what a command builds or tries. */
export function lacking({ build, instances }: Pick<Server, 'build' | 'instances'>): string | undefined {
  if (instances !== undefined) return lackOfGroups();
  if (build === undefined) return undefined;
  const { status, stderr } = spawnSync('env', ['-C', at('peers'), ...build], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

const bun = at(`node_modules/@oven/bun-${process.platform}-${process.arch.replace('arm', 'aarch')}/bin/bun`);
const go = at('build/go/');
const rust = ['--manifest-path=rust/Cargo.toml', `--target-dir=${at('build/rust')}`];

const FASTIFY: Program = { words: [process.execPath, at('peers/fastify.ts')] };
const GO: Program = { words: [`${go}todo-bench`], build: ['go', 'build', '-C', 'go', '-o', go] };

export const SERVERS: readonly Server[] = [
  service('service', 'todo-service', 'SQLite'),
  service('service-admin', 'with the admin listener', 'SQLite', { TODO_ADMIN_PORT: '0' }),
  service('service-postgresql', 'on PostgreSQL', 'PostgreSQL'),
  peer('constant', 'a constant', { words: [process.execPath, at('peers/constant.ts')] }),
  peer('fastify', 'Fastify', FASTIFY),
  peer('fastify-kept', 'Fastify, list kept', { ...FASTIFY, env: { KEEP: '1' } }),
  peer('elysia', 'Elysia on Bun', { words: [bun, at('peers/elysia.ts')], build: [bun, '--version'] }),
  peer('go', 'Go', GO),
  peer('go-kept', 'Go, list kept', { ...GO, env: { KEEP: '1' } }),
  peer('rust', 'Rust', {
    words: [at('build/rust/release/todo-bench')],
    build: ['cargo', 'build', '-qr', ...rust],
  }),
];

/** The service on PostgreSQL, the list by hand on the same server, and products. */
export const ON_POSTGRESQL: readonly Server[] = [
  service('service-postgresql', 'todo-service', 'PostgreSQL'),
  peer('fastify-pg', 'Fastify, pg', FASTIFY, 'PostgreSQL'),
  peer('go-pgx', 'Go, pgx', GO, 'PostgreSQL'),
  {
    name: 'kinto',
    title: 'Kinto',
    engine: 'PostgreSQL',
    dialect: products.KINTO,
    build: products.BUILD,
    start: products.startKinto,
  },
  {
    name: 'pocketbase',
    title: 'PocketBase, on its SQLite',
    engine: 'SQLite',
    dialect: products.POCKETBASE,
    build: products.BUILD,
    start: products.startPocketBase,
  },
];

/** One instance, and two that share the load. */
export const INSTANCES = [1, 2].map((instances): Server => {
  return { ...service(`instances-${instances}`, `${instances}`, 'PostgreSQL'), instances };
});

/** All, each name once. */
export const EVERY = [...SERVERS, ...ON_POSTGRESQL.slice(1), ...INSTANCES];

/** Sends requests at a fixed rate: https://github.com/tsenart/vegeta */
export const VEGETA = {
  program: `${go}vegeta`,
  build: [`GOBIN=${go}`, 'go', 'install', 'github.com/tsenart/vegeta/v12@v12.13.0'],
} as const;
