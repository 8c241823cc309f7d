import type { Logger } from 'pino';
import { describeDamage, openDevelopmentKey } from './development-key.ts';
import { fixedKeys, type Keys } from './keys.ts';
import { readKeysFile } from './keys-file.ts';
import { readSecretFile } from './secret-file.ts';
import type { AuthSettings } from './settings.ts';
import { fromSecret } from './verification-key.ts';

/**
 * Opens the one source of keys. Rejects when a file that `readAuthSettings` has found sound is so no longer;
 * an issuer that does not answer is no reason to reject.
 */
export async function openKeys({ source }: AuthSettings, _parts: { readonly log: Logger }): Promise<Keys> {
  switch (source.kind) {
    case 'development': {
      const file = await openDevelopmentKey(source.path);
      if (file.outcome === 'damaged') throw new Error(describeDamage(source.path, file.reason));
      const { secret, keyId } = file.key;
      return fixedKeys([fromSecret(secret, keyId, 'HS256')], `development key ${keyId} in ${source.path}`);
    }
    case 'secret-file': {
      const file = await readSecretFile(source.path);
      if (file.outcome === 'fault')
        throw new Error(`The secret file "${source.path}" has changed: ${file.reason}`);
      return fixedKeys(
        [fromSecret(file.secret)],
        `HMAC secret of ${file.secret.length} bytes from TODO_AUTH_SECRET_FILE`,
      );
    }
    case 'keys-file': {
      const file = await readKeysFile(source.path);
      if (file.outcome === 'fault')
        throw new Error(`The keys file "${source.path}" has changed: ${file.reason}`);
      return fixedKeys(file.keys, `${file.keys.length} public keys from TODO_AUTH_KEYS_FILE`);
    }
    case 'jwks-url':
    case 'discovery':
      throw new Error('Keys from an address are not there yet');
  }
}
