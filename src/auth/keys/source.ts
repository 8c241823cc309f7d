import type { LogEvent } from '../../events.ts';
import { openDevelopmentKey } from '../development.ts';
import { type FileSource, openWatchedKeys } from './files.ts';
import { fixedKeys, type Keys } from './keys.ts';
import { openRemoteKeys, type RemoteSource } from './remote.ts';
import { fromSecret } from './verification-key.ts';

/** A source of keys: exactly one of these. */
export type KeySource = { readonly kind: 'development'; readonly path: string } | FileSource | RemoteSource;

interface SourceSettings {
  readonly source: KeySource;
  readonly keysCooldownMs: number;
  readonly keysRefreshMs: number;
}

/** Opens the source of keys; an issuer may be silent. @throws {NotUsable} when a file of it is not sound any more. */
export async function openKeys(settings: SourceSettings, logEvent: LogEvent): Promise<Keys> {
  const { source } = settings;
  switch (source.kind) {
    case 'development': {
      const { secret, keyId } = await openDevelopmentKey(source.path);
      return fixedKeys([fromSecret(secret, keyId, 'HS256')], `development key ${keyId} in ${source.path}`);
    }
    case 'secret-file':
    case 'keys-file':
      return openWatchedKeys(source, logEvent);
    case 'jwks-url':
    case 'discovery':
      return openRemoteKeys(source, {
        logEvent,
        cooldownMs: settings.keysCooldownMs,
        refreshMs: settings.keysRefreshMs,
      });
  }
}
