import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { Provider } from 'oidc-provider';

/** A private RSA key as the provider wants it. */
export type ProviderKey = Readonly<Record<string, unknown>>;

/** A real OpenID provider on loopback, which gives a client tokens by the client credentials grant. */
export interface RunningProvider extends AsyncDisposable {
  /** An access token (RFC 9068) with these roles. */
  token(...roles: readonly string[]): Promise<string>;
}

const CLIENT = { client_id: 'ada', client_secret: 'a secret between ada and the provider' };

export function providerKey(kid: string): ProviderKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

/** A port that nobody listens on, for an issuer that comes and goes. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Signs with the first of `keys` and publishes all of them. */
export async function startProvider(port: number, keys: readonly ProviderKey[]): Promise<RunningProvider> {
  const issuer = `http://127.0.0.1:${port}`;
  let granted: readonly string[] = [];
  const provider = new Provider(issuer, {
    jwks: { keys },
    clients: [{ ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:todo-service',
        getResourceServerInfo: () => ({
          scope: '',
          audience: 'todo-service',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: () => ({ name: 'Ada', realm_access: { roles: granted } }),
  });
  const server = provider.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async token(...roles) {
      granted = roles;
      const basic = `${encodeURIComponent(CLIENT.client_id)}:${encodeURIComponent(CLIENT.client_secret)}`;
      // A connection that is kept would be dead after the provider was started again.
      const headers = { authorization: `Basic ${btoa(basic)}`, connection: 'close' };
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      const response = await fetch(`${issuer}/token`, { method: 'POST', headers, body });
      const { access_token: token } = Object(await response.json());
      if (typeof token !== 'string') throw new Error(`the provider answered ${response.status}`);
      return token;
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
