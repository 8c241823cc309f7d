import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Trust } from '../packages/conformance/src/sign.ts';
import { type Serving, startService, untilServing } from '../test/support/start.ts';

export interface Server {
  readonly name: string;
  readonly title: string;
  /** A command that builds or tries it; where that fails, this machine cannot run it. */
  readonly build?: readonly string[] | undefined;
  /** Starts it on a SQLite file of its own. */
  start(file: string, trust: Trust): Promise<Serving>;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const service = (name: string, title: string, env = {}): Server => ({
  name,
  title,
  start(file, auth) {
    const args = ['--database', `sqlite:${file}`];
    return startService({ auth, environment: 'production', built: true, args, env });
  },
});

function peer(name: string, title: string, words: readonly string[], build?: readonly string[]): Server {
  const [program = '', ...rest] = words;
  return {
    name,
    title,
    build,
    start(file, { issuer, audience, secret }) {
      const told = { DATABASE: file, ISSUER: issuer, AUDIENCE: audience, SECRET: String(secret) };
      const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...told };
      const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env });
      const kill = () => child.kill('SIGKILL');
      process.once('exit', kill);
      child.once('exit', () => process.off('exit', kill));
      return untilServing(child);
    },
  };
}

/** Why this machine cannot run a server. */
export function lacking({ build }: Server): string | undefined {
  if (build === undefined) return undefined;
  const { status, stderr } = spawnSync('env', ['-C', at('peers'), ...build], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim();
}

const bun = at(`node_modules/@oven/bun-${process.platform}-${process.arch.replace('arm', 'aarch')}/bin/bun`);
const go = at('build/go/');
const rust = ['--manifest-path=rust/Cargo.toml', `--target-dir=${at('build/rust')}`];

export const SERVERS: readonly Server[] = [
  service('service', 'todo-service'),
  service('service-admin', 'itself with the admin listener', { TODO_ADMIN_PORT: '0' }),
  peer('constant', 'a constant', [process.execPath, at('peers/constant.ts')]),
  peer('fastify', 'Fastify', [process.execPath, at('peers/fastify.ts')]),
  peer('elysia', 'Elysia on Bun', [bun, at('peers/elysia.ts')], [bun, '--version']),
  peer('go', 'Go', [`${go}todo-bench`], ['go', 'build', '-C', 'go', '-o', go]),
  peer('rust', 'Rust', [at('build/rust/release/todo-bench')], ['cargo', 'build', '-qr', ...rust]),
];
