import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PostgresServer } from './postgres-server.ts';
import { serve } from './served.ts';
import { startTcpProxy } from './tcp-proxy.ts';

test('a service on PostgreSQL is asked once it has a connection, which takes its time on a busy machine', async () => {
  const server = await PostgresServer.startForAll();
  await using proxy = await startTcpProxy(server.port);
  // Longer than a request waits.
  proxy.gate = () => pause(1_500);
  await using service = await serve(proxy.through(await server.makeMigrated()));
  await service.post();
});
