import { createHmac, randomUUID } from 'node:crypto';
import {
  DEVELOPMENT_ISSUER,
  developmentKeyPath,
  openDevelopmentKey,
  type Signer,
} from '../auth/development.ts';
import { readSecretFile } from '../auth/keys/files.ts';
import { namesAnIssuer, readExternalTrust } from '../auth/settings.ts';
import type { ClaimPath, Claims } from '../auth/token/identity.ts';
import { MAX_TOKEN_LENGTH } from '../auth/token/read-token.ts';
import { asNotUsable, NotUsable } from '../lib/errors.ts';
import { isJsonObject, parseJson } from '../lib/parse-json.ts';
import { readSettings, type Settings } from '../settings/read.ts';
import { SETTINGS } from '../settings/table.ts';
import { defineCommand, type Given, printCannot, WrongUsage } from './command.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service token create --name NAME [flags]

Prints a token, and nothing else. It is for a service that runs in development with the same data directory;
production refuses it: there, tokens come from your identity provider.
Where TODO_AUTH_ISSUER, TODO_AUTH_AUDIENCE and TODO_AUTH_SECRET_FILE are set, the token is one of that issuer, signed
with the first secret of the file (HS256), which production accepts.

  --name NAME              claims "sub" and "name"
  --role ROLE              claim "role"; repeat it for several roles. "editor" may write
  --lifetime 45s|30m|8h|7d default 8h, at most 3650d
  --claim KEY=VALUE        another claim, repeatable; a VALUE that begins with { or [ is JSON, any other is a string
  --output token|json      json adds the header and the claims; default token
  --data-dir DIR           TODO_DATA_DIR, default ${SETTINGS.TODO_DATA_DIR.default}: where the development key is, or is made
  -h, --help

Exit codes: 0 printed, 2 wrong usage, 78 no token can be made with this configuration.

Examples:
  todo-service token create --name ada --role editor
  todo-service token create --name bob --lifetime 45s
  todo-service token create --name eve --claim 'realm_access={"roles":["editor"]}' --output json
`;

const FLAGS = {
  name: { type: 'string' },
  role: { type: 'string', multiple: true },
  lifetime: { type: 'string' },
  claim: { type: 'string', multiple: true },
  output: { type: 'string' },
  'data-dir': { type: 'string' },
} as const;

export const TOKEN_CREATE = { action: 'make a token', flags: FLAGS, help: HELP };

/** `todo-service token create`: signs with the development key, or the first secret of the issuer. */
export const tokenCreate = defineCommand(TOKEN_CREATE, async (flags, env) => {
  const request = readTokenRequest(flags);
  const settings = readSettings(env, flags);
  const signer = await readSigner(settings);
  if (signer === undefined) {
    const reason =
      'TODO_AUTH_* names an issuer, and only that issuer can sign for it. Ask it for a token, or unset them';
    return printCannot(TOKEN_CREATE.action, reason, 'configuration');
  }
  const token = signToken(request, signer, Date.now() / 1000);
  if (token.token.length > MAX_TOKEN_LENGTH) {
    const received = `received ${token.token.length} bytes with these names, roles and claims`;
    throw new WrongUsage(`The token must have at most ${MAX_TOKEN_LENGTH} bytes, ${received}`);
  }
  print(`${request.output === 'json' ? JSON.stringify(token, null, 2) : token.token}\n`);
  if (signer.issuer === DEVELOPMENT_ISSUER && env.TODO_ENVIRONMENT === 'production') {
    process.stderr.write(
      'Mind that TODO_ENVIRONMENT is "production": a service in production refuses this token.\n',
    );
  }
  return 0;
});

/** The issuer's first secret or the development key; undefined where another signs. @throws {ConfigFaults} */
async function readSigner(settings: Settings): Promise<Signer | undefined> {
  const path = settings.read('TODO_AUTH_SECRET_FILE');
  if (path === undefined) {
    const dataDir = settings.whenSound(settings.read('TODO_DATA_DIR'));
    return namesAnIssuer(settings) ? undefined : openDevelopmentKey(developmentKeyPath(dataDir));
  }
  const trust = await readExternalTrust(settings, settings.read('TODO_ENVIRONMENT'));
  const { issuer, audiences, audienceClaim, tokenType } = settings.whenSound(trust);
  const file = await readSecretFile(path).catch(asNotUsable);
  const secret = file instanceof NotUsable ? undefined : file.secrets[0];
  if (secret === undefined) throw new NotUsable(`The secret file "${path}" has changed`);
  // A list without an entry is a fault.
  return { issuer, audience: audiences[0] ?? '', audienceClaim, tokenType, secret };
}

/** The token that the flags ask for. @throws {WrongUsage} */
export function readTokenRequest(flags: Given<typeof FLAGS>) {
  const { name, role: roles = [], lifetime = '8h', output = 'token', claim = [] } = flags;
  if (name === undefined || name.trim() === '')
    throw new WrongUsage('--name must be the name of somebody, received nothing');
  const notOne = roles.find((role) => role === '' || /[,\s]/.test(role));
  if (notOne !== undefined) throw wrong('--role must be one role, repeated for several', notOne);
  const lifetimeSeconds = readLifetime(lifetime);
  if (output !== 'token' && output !== 'json') throw wrong('--output must be "token" or "json"', output);
  return { name, roles, lifetimeSeconds, claims: readClaims(claim), output };
}

function wrong(wanted: string, received: string): WrongUsage {
  return new WrongUsage(`${wanted}, received ${JSON.stringify(received)}`);
}

const STANDARD_CLAIMS = ['sub', 'name', 'role', 'iss', 'aud', 'iat', 'nbf', 'exp', 'jti'];

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const MAX_LIFETIME = 3650 * 86_400;

function readLifetime(text: string): number {
  const [, amount, unit = ''] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? [];
  const seconds = Number(amount) * (SECONDS[unit] ?? 0);
  if (seconds <= MAX_LIFETIME) return seconds;
  throw wrong('--lifetime must be like 45s, 30m, 8h or 7d, at most 3650d', text);
}

function readClaims(texts: readonly string[]): ReadonlyMap<string, unknown> {
  const claims = new Map<string, unknown>();
  for (const text of texts) {
    const equals = text.indexOf('=');
    const key = text.slice(0, equals);
    if (equals < 1) throw wrong('--claim must be KEY=VALUE', text);
    if (STANDARD_CLAIMS.includes(key)) {
      throw wrong(`--claim must not be one that every token has (${STANDARD_CLAIMS.join(', ')})`, key);
    }
    if (claims.has(key)) {
      throw new WrongUsage(`--claim must name each claim once, received ${JSON.stringify(key)} twice`);
    }
    const value = text.slice(equals + 1);
    const parsed = /^[{[]/.test(value) ? parseJson(value) : { value };
    if ('fault' in parsed) throw wrong('--claim with a value that begins with { or [ must be JSON', value);
    claims.set(key, parsed.value);
  }
  return claims;
}

/** A token that is accepted by a service which trusts the signer. HS256. `now` in seconds since 1970. */
export function signToken(
  { name, roles, lifetimeSeconds, claims }: ReturnType<typeof readTokenRequest>,
  { issuer, audience, audienceClaim = ['aud'], tokenType, secret, keyId }: Signer,
  now: number,
) {
  const issuedAt = Math.floor(now);
  const header = { alg: 'HS256', typ: tokenType ?? 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const all = withClaim(audienceClaim, audience, {
    ...Object.fromEntries(claims),
    sub: name,
    name,
    ...(roles.length > 0 && { role: roles.length === 1 ? roles[0] : roles }),
    iss: issuer,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    jti: randomUUID(),
  });
  const signingInput = `${encode(header)}.${encode(all)}`;
  const signature = createHmac('sha256', secret).update(signingInput).digest('base64url');
  return { token: `${signingInput}.${signature}`, header, claims: all };
}

/** The claims with one more at this path. Objects on the path are made where they are missing. */
function withClaim([name = '', ...path]: ClaimPath, value: string, claims: Claims): Claims {
  const below = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const inner = () => withClaim(path, value, isJsonObject(below) ? below : {});
  return { ...claims, [name]: path.length === 0 ? value : inner() };
}

/** RFC 7515 §2. */
function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
