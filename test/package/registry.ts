import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

/** A registry on this machine. Owned: `await using`. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts a registry that has the tarball, as if it had been published there, and sends whoever asks for anything else to
 * the registry at `others`. npm looks into `npm-shrinkwrap.json` only when a registry says that there is one.
 */
export async function startRegistry(tarball: string, others: string): Promise<Registry> {
  const content = await readFile(tarball);
  const path = `/${manifest.name}/-/${basename(tarball)}`;
  const server = createServer((request, response) => {
    if (request.url === path) response.end(content);
    else if (request.url === `/${manifest.name}`) response.end(JSON.stringify(packument()));
    else response.writeHead(302, { location: new URL(`.${request.url}`, others).href }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function packument() {
    const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
    const { devDependencies: _, scripts: __, ...published } = manifest;
    const version = { ...published, _hasShrinkwrap: true, dist: { tarball: `${url}${path}`, integrity } };
    return {
      name: manifest.name,
      'dist-tags': { latest: manifest.version },
      versions: { [manifest.version]: version },
    };
  }

  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
