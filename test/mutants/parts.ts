/** Sources, and the test files that hold them. */
export interface Part {
  readonly source: readonly string[];
  readonly tests: readonly string[];
  /** Tests that are left out, by a pattern of their names: they take long, and notice nothing of their own. */
  readonly without?: string;
}

export const PARTS: Readonly<Record<string, Part>> = {
  'parse-json': { source: ['src/lib/parse-json.ts'], tests: ['src/lib/parse-json.test.ts'] },
  'media-type': {
    source: ['src/http/media-type.ts'],
    tests: ['src/http/media-type.test.ts'],
    without: 'hostile repeats',
  },
  problem: {
    source: ['src/http/problem.ts', 'src/http/trace-id.ts'],
    tests: ['src/http/problem.test.ts', 'src/http/trace-id.test.ts', 'test/http/problems.test.ts'],
  },
  body: {
    source: ['src/http/{body,json-body}.ts'],
    tests: ['test/http/bodies.test.ts', 'test/http/transport.test.ts', 'src/lib/parse-json.test.ts'],
  },
  pipeline: {
    source: ['src/http/{answer,call,cors,fault-answers,pipeline}.ts'],
    tests: [
      'src/http/answer.test.ts',
      'test/commands/config.test.ts',
      'test/http/bodies.test.ts',
      'test/http/caches.test.ts',
      'test/http/connections.test.ts',
      'test/http/cors.test.ts',
      'test/http/half-closed.test.ts',
      'test/http/problems.test.ts',
      'test/http/tags.test.ts',
      'test/http/transport.test.ts',
      'test/lifecycle/idle-at-stop.test.ts',
      'test/telemetry/metrics.test.ts',
      'test/telemetry/request-lines.test.ts',
      'test/telemetry/traces.test.ts',
    ],
  },
  routes: { source: ['src/http/route.ts'], tests: ['src/http/route.test.ts'] },
  todo: {
    source: ['src/shared-list/{members,entity-tags,create-keys}.ts'],
    tests: [
      'src/shared-list/members.test.ts',
      'src/shared-list/entity-tags.test.ts',
      'src/shared-list/create-keys.test.ts',
      'src/shared-list/requests.test.ts',
      'test/storage/added-members.test.ts',
    ],
  },
  requests: {
    source: ['src/shared-list/requests.ts'],
    tests: ['src/shared-list/requests.test.ts', 'test/storage/added-members.test.ts'],
  },
  token: {
    source: ['src/auth/token/*.ts'],
    tests: [
      'src/auth/token/checks.test.ts',
      'src/auth/token/identity.test.ts',
      'src/auth/token/refusal.test.ts',
      'test/auth/examine.test.ts',
      'test/auth/hostile-tokens.test.ts',
      'test/auth/authenticate.test.ts',
    ],
  },
  explain: {
    source: ['src/commands/explain/*.ts'],
    tests: [
      'test/auth/examine.test.ts',
      'test/auth/advice.test.ts',
      'test/auth/hostile-tokens.test.ts',
      'test/auth/proposals.test.ts',
      'test/auth/published-keys.test.ts',
    ],
  },
  settings: {
    source: ['src/settings/*.ts'],
    tests: [
      'src/settings/read.test.ts',
      'src/settings/table.test.ts',
      'test/documents/settings.test.ts',
      'test/auth/settings.test.ts',
    ],
  },
  config: {
    source: ['src/server/config.ts'],
    tests: [
      'test/auth/published-keys.test.ts',
      'test/auth/settings.test.ts',
      'test/commands/config.test.ts',
      'test/commands/healthcheck.test.ts',
      'test/commands/texts.test.ts',
      'test/lifecycle/given-socket.test.ts',
      'test/lifecycle/socket-file.test.ts',
      'test/lifecycle/start.test.ts',
    ],
  },
  service: {
    source: ['src/server/{admin,descriptors,engines,service}.ts'],
    tests: [
      'test/commands/database.test.ts',
      'test/commands/texts.test.ts',
      'test/http/connection-limit.test.ts',
      'test/http/slow.test.ts',
      'test/lifecycle/start.test.ts',
      'test/lifecycle/stop.test.ts',
      'test/specification/specification.test.ts',
      'test/telemetry/admin.test.ts',
      'test/telemetry/metrics.test.ts',
      'test/telemetry/operators.test.ts',
      'test/telemetry/request-lines.test.ts',
      'test/telemetry/traces.test.ts',
    ],
  },
  'durable-files': {
    source: ['src/lib/durable-files.ts'],
    tests: ['src/lib/durable-files.test.ts'],
  },
  'sqlite-writer': {
    source: ['src/storage/sqlite/{cache,row,writer,writer-thread}.ts'],
    tests: [
      'src/storage/sqlite/cache.test.ts',
      'src/storage/sqlite/writer.test.ts',
      'src/storage/sqlite/writer-thread.test.ts',
      'src/storage/sqlite/reader-thread.test.ts',
      'src/storage/sqlite/transfer.test.ts',
      'test/storage/sqlite-definitions.test.ts',
      'test/storage/sqlite-reads.test.ts',
    ],
  },
  'sqlite-thread': {
    source: ['src/storage/sqlite/{thread,reader-thread}.ts'],
    tests: [
      'src/storage/sqlite/reader-thread.test.ts',
      'src/storage/sqlite/thread.test.ts',
      'src/storage/sqlite/list.test.ts',
      'src/storage/sqlite/writer.test.ts',
    ],
  },
  'sqlite-file': {
    source: ['src/storage/sqlite/{file,file-system}.ts'],
    tests: [
      'src/storage/sqlite/file.test.ts',
      'src/storage/sqlite/file-system.test.ts',
      'test/storage/sqlite-mounts.test.ts',
      'test/storage/sqlite-rights.test.ts',
    ],
  },
  'sqlite-owner': {
    source: ['src/storage/sqlite/{owned-database,owner-lock}.ts'],
    tests: [
      'src/storage/sqlite/owner-lock.test.ts',
      'src/storage/sqlite/owned-database.test.ts',
      'test/storage/sqlite-owner.test.ts',
      'test/storage/sqlite-rights.test.ts',
    ],
  },
  'sqlite-restore': {
    source: ['src/storage/sqlite/restore.ts'],
    tests: [
      'src/storage/sqlite/restore.test.ts',
      'test/long/power-cuts.test.ts',
      'test/long/restore-failures.test.ts',
      'test/storage/sqlite-rights.test.ts',
    ],
  },
  list: {
    source: ['src/storage/list/*.ts', 'src/storage/sqlite/list.ts'],
    tests: [
      'src/storage/list/single-flight.test.ts',
      'src/storage/list/version.test.ts',
      'src/storage/list/chunk.test.ts',
      'src/storage/sqlite/list.test.ts',
    ],
  },
  transfer: {
    source: ['src/storage/transfer/*.ts', 'src/storage/sqlite/transfer.ts'],
    tests: [
      'src/storage/transfer/write-export.test.ts',
      'src/storage/transfer/read-export.test.ts',
      'src/storage/sqlite/transfer.test.ts',
      'test/commands/rows.test.ts',
      'test/storage/sqlite-rights.test.ts',
    ],
  },
  'connection-string': {
    source: ['src/storage/postgres-connection-string.ts', 'src/storage/postgres/address.ts'],
    tests: [
      'src/storage/postgres-connection-string.test.ts',
      'src/storage/postgres/address.test.ts',
      'test/commands/config.test.ts',
      'test/storage/postgres-access.test.ts',
    ],
  },
  'postgres-store': {
    source: ['src/storage/postgres/{add-once,list,sharing,store,writes}.ts'],
    tests: [
      'src/storage/postgres/add-once.test.ts',
      'src/storage/postgres/store.test.ts',
      'test/storage/postgres-contract.test.ts',
      'test/storage/postgres-durability.test.ts',
      'test/storage/postgres-failures.test.ts',
      'test/storage/postgres-list.test.ts',
      'test/storage/postgres-schema.test.ts',
      'test/storage/postgres-shared-writes.test.ts',
    ],
    without: 'generated titles|whatever|sixteen clients|while a standby is gone',
  },
  'postgres-pool': {
    source: ['src/storage/postgres/{cancel,cluster,postgres-connection-pool,statement-pool}.ts'],
    tests: [
      'src/storage/postgres/cancel.test.ts',
      'src/storage/postgres/store.test.ts',
      'test/storage/postgres-access.test.ts',
      'test/storage/postgres-channel-binding.test.ts',
      'test/storage/postgres-connections.test.ts',
      'test/storage/postgres-durability.test.ts',
      'test/storage/postgres-failures.test.ts',
      'test/storage/postgres-start.test.ts',
    ],
    without: 'while a standby is gone|connections that stand still|twenty instances',
  },
  transport: {
    source: ['src/wire/{client-connection,framing,http-server,listener,validation}.ts'],
    tests: [
      'src/wire/client-connection.test.ts',
      'src/wire/listener.test.ts',
      'src/wire/validation.test.ts',
      'test/http/transport.test.ts',
      'test/http/bodies.test.ts',
      'test/http/connections.test.ts',
      'test/http/cors.test.ts',
      'test/http/half-closed.test.ts',
      'test/http/linger.test.ts',
      'test/http/slow.test.ts',
      'test/http/connection-limit.test.ts',
      'test/lifecycle/drain.test.ts',
      'test/lifecycle/given-socket.test.ts',
      'test/lifecycle/idle-at-stop.test.ts',
      'test/lifecycle/socket-file.test.ts',
      'test/lifecycle/stall.test.ts',
    ],
    without: 'a flood of 1,000|descriptor',
  },
  sockets: {
    source: ['src/wire/{address,given-socket,socket-file}.ts'],
    tests: [
      'src/wire/address.test.ts',
      'src/wire/socket-file.test.ts',
      'test/http/connection-limit.test.ts',
      'test/lifecycle/given-socket.test.ts',
      'test/lifecycle/socket-file.test.ts',
    ],
  },
  keys: {
    source: ['src/auth/keys/*.ts'],
    tests: [
      'src/auth/keys/algorithms.test.ts',
      'src/auth/keys/keys.test.ts',
      'src/auth/keys/proxy.test.ts',
      'src/auth/keys/trusted-address.test.ts',
      'src/auth/keys/verification-key.test.ts',
      'test/auth/development-key.test.ts',
      'test/auth/key-files.test.ts',
      'test/auth/published-keys.test.ts',
      'test/auth/remote-keys.test.ts',
      'test/auth/proxied-keys.test.ts',
      'test/auth/watched-files.test.ts',
    ],
    without: 'a service asks its issuer through HTTPS_PROXY|of several processes that make the key',
  },
};
