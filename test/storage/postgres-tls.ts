import assert from 'node:assert/strict';
import { chmod, chown, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PostgresServer } from './postgres-server.ts';

export const CERTIFICATES = fileURLToPath(new URL('./tls/', import.meta.url));

/** Gives a server its certificate, which is for `localhost`. */
export async function switchOnTls(server: PostgresServer): Promise<void> {
  const { uid, gid } = await stat(server.dataFolder);
  for (const [setting, name] of [
    ['ssl_cert_file', 'test-only-server.pem'],
    ['ssl_key_file', 'test-only-server.key'],
  ] as const) {
    const path = join(server.dataFolder, name);
    await copyFile(join(CERTIFICATES, name), path);
    await chmod(path, 0o600);
    await chown(path, uid, gid);
    await server.set(setting, name);
  }
  await server.set('ssl', 'on');
  const isOn = async () => (await server.execute(server.url, 'SHOW ssl'))[0]?.ssl === 'on';
  for (let tries = 0; tries < 1_000 && !(await isOn()); tries += 1) await sleep(10);
  assert.ok(await isOn(), 'PostgreSQL must take the certificate of the test');
}

/** A connection string with another host and parameters for TLS. */
export function reach(url: string, host: string, mode?: string, root?: string): string {
  const reached = new URL(url);
  reached.hostname = host;
  if (mode !== undefined) reached.searchParams.set('sslmode', mode);
  if (root !== undefined) reached.searchParams.set('sslrootcert', join(CERTIFICATES, root));
  // A space in a path: `URLSearchParams` writes it as a form does.
  return reached.href.replaceAll('+', '%20');
}
