import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fixtures } from './fixtures.ts';
import type { Load, OpenLoad } from './load/load.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { drawRequests, type TodoRequest } from './requests.ts';
import type { Scenario } from './scenarios.ts';
import type { Surroundings } from './servers.ts';
import { AUDIENCE, ISSUER, makeKeys, type TokenMaker } from './tokens.ts';

/** What is the same for every server of a scenario. */
export interface Prepared {
  readonly tokens: TokenMaker;
  readonly requests: readonly TodoRequest[];
  readonly load: Load;
  /** With a database of its own in SQLite: a trial may write. */
  surroundings(): Promise<Omit<Surroundings, 'port' | 'durability'>>;
}

/** Keys, databases and requests of a whole benchmark, made when they are first needed. */
export interface Kit extends AsyncDisposable {
  readonly folder: string;
  prepare(scenario: Scenario): Promise<Prepared>;
}

export function openKit(openLoad: OpenLoad, profile?: string): Kit {
  const folder = mkdtempSync(join(tmpdir(), 'todo-service-bench-'));
  const keys = makeKeys(folder);
  const trust = { issuer: ISSUER, audience: AUDIENCE };
  const fixtures = new Fixtures(folder, {
    ...trust,
    algorithm: 'HS256',
    keyFile: keys.HS256.keyFile,
    durability: 'durable',
  });
  const prepared = new Map<string, Promise<Prepared>>();
  let postgres: Promise<Postgres> | undefined;
  let connectionString: Promise<string> | undefined;

  async function fillPostgres(todos: number): Promise<string> {
    postgres ??= startPostgres();
    const made = await (await postgres).create('bench');
    await fixtures.postgres(made, todos);
    return made;
  }

  async function make({ kind, todos, algorithm, database }: Scenario): Promise<Prepared> {
    const tokens = keys[algorithm];
    const requests = await drawRequests(kind, todos, tokens);
    const fill = async () => {
      if (database === 'sqlite') return fixtures.sqlite(todos);
      connectionString ??= fillPostgres(todos);
      return connectionString;
    };
    return {
      tokens,
      requests,
      load: openLoad(requests, folder),
      surroundings: async () => ({
        ...trust,
        algorithm,
        keyFile: tokens.keyFile,
        database: await fill(),
        profile,
      }),
    };
  }

  return {
    folder,
    prepare(scenario) {
      const made = prepared.get(scenario.name) ?? make(scenario);
      prepared.set(scenario.name, made);
      return made;
    },
    async [Symbol.asyncDispose]() {
      await (await postgres)?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
