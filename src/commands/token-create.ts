import {
  developmentKeyPath,
  openDevelopmentKey,
  type Signer,
  STANDARD_CLAIMS,
  signToken,
  type TokenClaims,
} from '../auth/development.ts';
import { readSecretFile } from '../auth/keys/files.ts';
import { MAX_TOKEN_LENGTH } from '../auth/token/read-token.ts';
import { readSigningConfig, type SigningConfig } from '../config.ts';
import { asNotUsable, NotUsable } from '../files.ts';
import { parseJson } from '../parse-json.ts';
import { SETTINGS } from '../settings.ts';
import { printCannot, printFaults } from './faults.ts';
import { type Given, readFlags, wrongUsage } from './flags.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service token create --name NAME [flags]

Prints a token, and nothing else. It is for a service that runs in development with the same data directory;
production refuses it: there, tokens come from your identity provider.
Where TODO_AUTH_ISSUER, TODO_AUTH_AUDIENCE and TODO_AUTH_SECRET_FILE are set, it is a token of that issuer, signed with
the first secret of the file (HS256), which production accepts.

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

export const TOKEN_CREATE = { command: 'token create', flags: FLAGS, help: HELP };

/** For people, after "Cannot". */
const ACTION = 'make a token';

/** What the flags ask for. */
interface TokenRequest {
  readonly token: TokenClaims;
  readonly output: 'token' | 'json';
}

/** `todo-service token create`: signs with the development key, or the first secret of the issuer. The result is the exit code. */
export async function tokenCreate(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const flags = readFlags(TOKEN_CREATE, argv);
  if (typeof flags === 'number') return flags;
  const request = readTokenRequest(flags);
  if (typeof request === 'string') return wrongUsage(TOKEN_CREATE.command, request);
  const read = await readSigningConfig(flags, env);
  if ('faults' in read) return printFaults(ACTION, read.faults);
  if (read.issuer === 'elsewhere') {
    const reason =
      'TODO_AUTH_* names an issuer, and only that issuer can sign for it. Ask it for a token, or unset them';
    return printCannot(ACTION, reason, 78);
  }
  const signer = await signerOf(read).catch(asNotUsable);
  if (signer instanceof NotUsable) return printCannot(ACTION, signer.message, 78);
  const token = signToken(request.token, signer, Date.now() / 1000);
  if (token.token.length > MAX_TOKEN_LENGTH) {
    const received = `received ${token.token.length} bytes with these names, roles and claims`;
    return wrongUsage(
      TOKEN_CREATE.command,
      `The token must have at most ${MAX_TOKEN_LENGTH} bytes, ${received}`,
    );
  }
  print(`${request.output === 'json' ? JSON.stringify(token, null, 2) : token.token}\n`);
  if (read.production && read.issuer === undefined) {
    process.stderr.write(
      'Mind that TODO_ENVIRONMENT is "production": a service in production refuses this token.\n',
    );
  }
  return 0;
}

/**
 * The first secret of the issuer, or the development key, made when it is missing.
 *
 * @throws {NotUsable} when there is none.
 */
async function signerOf({ dataDir, issuer: trust }: SigningConfig): Promise<Signer> {
  if (typeof trust !== 'object' || trust.source.kind !== 'secret-file') {
    return openDevelopmentKey(developmentKeyPath(dataDir));
  }
  const { issuer, audience, source } = trust;
  const file = await readSecretFile(source.path).catch(asNotUsable);
  const secret = file instanceof NotUsable ? undefined : file.secrets[0];
  if (secret === undefined) throw new NotUsable(`The secret file "${source.path}" has changed`);
  return { issuer, audience, secret };
}

/** What is asked for, or a sentence about wrong usage. */
export function readTokenRequest(flags: Given<typeof FLAGS>): TokenRequest | string {
  const { name, role: roles = [], lifetime = '8h', output = 'token', claim = [] } = flags;
  if (name === undefined || name.trim() === '')
    return '--name must be the name of somebody, received nothing';
  const notOne = roles.find((role) => role === '' || /[,\s]/.test(role));
  if (notOne !== undefined) {
    return `--role must be one role, repeated for several, received ${JSON.stringify(notOne)}`;
  }
  const seconds = readLifetime(lifetime);
  if (seconds === undefined) {
    return `--lifetime must be like 45s, 30m, 8h or 7d, at most 3650d, received ${JSON.stringify(lifetime)}`;
  }
  if (output !== 'token' && output !== 'json') {
    return `--output must be "token" or "json", received ${JSON.stringify(output)}`;
  }
  const claims = readClaims(claim);
  if (typeof claims === 'string') return claims;
  return { token: { name, roles, lifetimeSeconds: seconds, claims }, output };
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const MAX_LIFETIME = 3650 * 86_400;

/** Seconds, or undefined. */
function readLifetime(text: string): number | undefined {
  const [, amount, unit] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const seconds = Number(amount) * (SECONDS[unit] ?? 0);
  return seconds <= MAX_LIFETIME ? seconds : undefined;
}

function readClaims(texts: readonly string[]): readonly (readonly [string, unknown])[] | string {
  const claims = new Map<string, unknown>();
  for (const text of texts) {
    const equals = text.indexOf('=');
    const key = text.slice(0, equals);
    if (equals < 1) return `--claim must be KEY=VALUE, received ${JSON.stringify(text)}`;
    if (STANDARD_CLAIMS.includes(key)) {
      return `--claim must not be one that every token has (${STANDARD_CLAIMS.join(', ')}), received ${JSON.stringify(key)}`;
    }
    if (claims.has(key)) return `--claim must name each claim once, received ${JSON.stringify(key)} twice`;
    const value = text.slice(equals + 1);
    const parsed = /^[{[]/.test(value) ? parseJson(value) : { value };
    if ('fault' in parsed)
      return `--claim with a value that begins with { or [ must be JSON, received ${JSON.stringify(value)}`;
    claims.set(key, parsed.value);
  }
  return [...claims];
}
