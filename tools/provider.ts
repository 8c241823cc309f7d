/**
 * An OpenID provider of this machine, for the tutorial and for trials: an oidc-provider whose clients are ada, who may
 * write, and bob. Everybody knows their secrets. Each start makes a new signing key, and nothing is kept.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { giveUp } from './command.ts';
import { quietProvider } from './quiet-provider.ts';

const USAGE = 'Usage: npm run provider -- http://127.0.0.1:PORT [SECONDS]';

/** Name and roles, by the id of a client. The secret of each is its id. */
const PEOPLE: Readonly<Record<string, object>> = {
  ada: { name: 'Ada Lovelace', roles: ['editor'] },
  bob: { name: 'Bob Kahn', roles: [] },
};

/** The audience of a token that names no other application. */
const AUDIENCE = 'todo-service';

const [issuer = '', lifetime = '3600'] = process.argv.slice(2);
const [, port] = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(issuer) ?? [];
if (port === undefined) giveUp(`${USAGE}. The address is the issuer, received "${issuer}"`, 2);
if (!/^[1-9]\d{0,6}$/.test(lifetime))
  giveUp(`${USAGE}. A token lives for SECONDS, received "${lifetime}"`, 2);

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider = await quietProvider(issuer, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  clients: Object.keys(PEOPLE).map((id) => ({
    client_id: id,
    client_secret: id,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  })),
  extraTokenClaims: (_context: unknown, { clientId }: { readonly clientId: string }) => PEOPLE[clientId],
  ttl: { ClientCredentials: Number(lifetime) },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => `urn:${AUDIENCE}`,
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: '',
        audience: resource.replace(/^urn:/, ''),
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
});
createServer(provider.callback())
  .on('error', ({ message }) => giveUp(`Cannot give tokens: ${message}`))
  .listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(
      `${issuer} gives tokens for "${AUDIENCE}" to ${Object.keys(PEOPLE).join(' and ')}\n`,
    );
  });
