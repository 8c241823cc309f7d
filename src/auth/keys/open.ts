import { describeTrouble, openDevelopmentKey } from '../development.ts';
import type { AuthSettings } from '../settings.ts';
import type { KeysOptions } from './keys.ts';
import { fixedKeys, type Keys, KeysNotOpened } from './keys.ts';
import { openRemoteKeys } from './remote.ts';
import { fromSecret } from './verification-key.ts';
import { openWatchedKeys } from './watched-file.ts';

/**
 * Opens the one source of keys. An issuer that does not answer is no reason to reject.
 *
 * @throws {KeysNotOpened} when a file that `readAuth` has found sound is so no longer, or the
 * development key cannot be made.
 */
export async function openKeys(settings: AuthSettings, options: KeysOptions): Promise<Keys> {
  const { source } = settings;
  switch (source.kind) {
    case 'development': {
      const file = await openDevelopmentKey(source.path);
      if (file.outcome !== 'read') throw new KeysNotOpened(describeTrouble(source.path, file));
      const { secret, keyId } = file.key;
      return fixedKeys([fromSecret(secret, keyId, 'HS256')], `development key ${keyId} in ${source.path}`);
    }
    case 'secret-file':
    case 'keys-file':
      return openWatchedKeys(source, options);
    case 'jwks-url':
    case 'discovery':
      return openRemoteKeys(source, {
        ...options,
        cooldownMs: settings.keysCooldownMs,
        refreshMs: settings.keysRefreshMs,
      });
  }
}
