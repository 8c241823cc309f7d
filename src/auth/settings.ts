import type { Environment } from '../environment.ts';
import { quoteAddress } from '../quote-address.ts';
import { readWhole } from '../whole-number.ts';
import {
  DEVELOPMENT_AUDIENCE,
  DEVELOPMENT_ISSUER,
  describeTrouble,
  developmentKeyPath,
  readDevelopmentKey,
} from './development/key.ts';
import { parseTrustedAddress } from './keys/address.ts';
import { type KeySource, type RawKeySource, readKeySource } from './keys/source.ts';
import { type ClaimPath, parseClaimPath } from './token/claim-path.ts';
import type { IdentityClaims } from './token/identity-claims.ts';

/** The `TODO_AUTH_*` variables as they stand, an empty one as undefined. */
export interface RawAuthSettings extends RawKeySource {
  readonly audience: string | undefined;
  readonly roleClaim: string | undefined;
  readonly nameClaim: string | undefined;
  readonly clockTolerance: string | undefined;
  readonly keysCooldownSeconds: string | undefined;
  readonly keysRefreshSeconds: string | undefined;
}

/** Settings that have been found sound, key files included. */
export interface AuthSettings {
  readonly issuer: string;
  readonly audience: string;
  readonly source: KeySource;
  readonly claims: IdentityClaims;
  /** Seconds, 0 to 300. Clock skew forgiven on `exp`, `nbf` and `iat`, RFC 7519 §4.1.4 (contract A8). */
  readonly clockTolerance: number;
  /** Seconds between two refetches that tokens with an unknown `kid` may cause. */
  readonly keysCooldown: number;
  /** Seconds between two refreshes in the background. */
  readonly keysRefresh: number;
}

export interface AuthSurroundings {
  readonly environment: Environment;
  readonly dataDir: string;
}

export type AuthSettingsResult =
  | { readonly settings: AuthSettings }
  /** One line each: the variable, what was received, what is wanted. Never any part of a secret. */
  | { readonly faults: readonly string[] };

/** Whether tokens of an issuer are configured, so that the development key has no say. */
export function namesAnIssuer(raw: RawAuthSettings): boolean {
  const { issuer, audience, keysFile, secretFile, jwksUrl } = raw;
  return [issuer, audience, keysFile, secretFile, jwksUrl].some((value) => value !== undefined);
}

/**
 * Decides what the variables mean and looks into the files they name. All faults at once, so that three wrong
 * settings cost one start. Does NOT contact the issuer.
 */
export async function readAuthSettings(
  raw: RawAuthSettings,
  surroundings: AuthSurroundings,
): Promise<AuthSettingsResult> {
  const faults: string[] = [];
  const external = surroundings.environment === 'production' || namesAnIssuer(raw);
  const trust = external
    ? await readExternalTrust(raw, surroundings.environment, faults)
    : await readDevelopmentTrust(surroundings.dataDir, faults);
  const tuning = {
    claims: readClaims(raw, faults),
    clockTolerance: readWhole(
      'TODO_AUTH_CLOCK_TOLERANCE',
      raw.clockTolerance,
      { from: 0, to: 300, otherwise: external ? 30 : 0, unit: 'seconds' },
      faults,
    ),
    keysCooldown: readWhole(
      'TODO_AUTH_KEYS_COOLDOWN_SECONDS',
      raw.keysCooldownSeconds,
      { from: 1, to: 3_600, otherwise: 30, unit: 'seconds' },
      faults,
    ),
    keysRefresh: readWhole(
      'TODO_AUTH_KEYS_REFRESH_SECONDS',
      raw.keysRefreshSeconds,
      { from: 1, to: 86_400, otherwise: 600, unit: 'seconds' },
      faults,
    ),
  };
  if (trust === undefined || faults.length > 0) return { faults };
  return { settings: { ...trust, ...tuning } };
}

type Trust = Pick<AuthSettings, 'issuer' | 'audience' | 'source'>;

async function readDevelopmentTrust(dataDir: string, faults: string[]): Promise<Trust> {
  const path = developmentKeyPath(dataDir);
  const file = await readDevelopmentKey(path);
  if (file.outcome === 'damaged') faults.push(describeTrouble(path, file));
  return {
    issuer: DEVELOPMENT_ISSUER,
    audience: DEVELOPMENT_AUDIENCE,
    source: { kind: 'development', path },
  };
}

async function readExternalTrust(
  raw: RawAuthSettings,
  environment: Environment,
  faults: string[],
): Promise<Trust | undefined> {
  const { issuer, audience } = raw;
  if (issuer === undefined) {
    faults.push(
      'TODO_AUTH_ISSUER must be the issuer of your tokens, like "https://login.example.org", received nothing',
    );
  } else {
    faults.push(...issuerFaults(issuer, environment));
  }
  if (audience === undefined) {
    faults.push(
      'TODO_AUTH_AUDIENCE must be the "aud" of tokens for this service, like "todo-service", received nothing',
    );
  }
  for (const [name, value, quote] of [
    ['TODO_AUTH_ISSUER', issuer, quoteAddress],
    ['TODO_AUTH_AUDIENCE', audience, JSON.stringify],
  ] as const) {
    if (value !== undefined && value !== value.trim()) {
      faults.push(`${name} must not begin or end with white space, received ${quote(value)}`);
    }
  }
  const source = await readKeySource(raw, environment, faults);
  if (issuer === undefined || audience === undefined || source === undefined) return undefined;
  return { issuer, audience, source };
}

function issuerFaults(issuer: string, environment: Environment): string[] {
  if (issuer === DEVELOPMENT_ISSUER && environment === 'production') {
    return [
      `TODO_AUTH_ISSUER must not be the issuer of development tokens in production, received "${DEVELOPMENT_ISSUER}"`,
    ];
  }
  if (/^http:/i.test(issuer) && parseTrustedAddress(issuer) === undefined) {
    return [`TODO_AUTH_ISSUER must begin with "https:", or be on loopback, received ${quoteAddress(issuer)}`];
  }
  return [];
}

function readClaims(raw: RawAuthSettings, faults: string[]): IdentityClaims {
  const name = readClaim('TODO_AUTH_NAME_CLAIM', raw.nameClaim, faults);
  const role = readClaim('TODO_AUTH_ROLE_CLAIM', raw.roleClaim, faults);
  return { ...(name && { name }), ...(role && { role }) };
}

function readClaim(variable: string, value: string | undefined, faults: string[]): ClaimPath | undefined {
  if (value === undefined) return undefined;
  const path = parseClaimPath(value);
  if (path === undefined) {
    faults.push(
      `${variable} must be the name of a claim, or a JSON Pointer like "/realm_access/roles", received ${JSON.stringify(value)}`,
    );
  }
  return path;
}
