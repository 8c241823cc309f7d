import { stat } from 'node:fs/promises';
import { errorCode, readKeysFile } from './files.ts';
import type { Keys } from './keys.ts';
import { currentKeys, KeysNotOpened, type KeysOptions } from './keys.ts';

export interface WatchedKeysOptions extends KeysOptions {
  /** Between two polls of the file. */
  readonly intervalMs?: number;
}

/** How long a removed key may still be trusted. */
const INTERVAL_MS = 1000;

/**
 * The keys of a file, reread when it changes. Polls instead of waiting for the file system to tell: files that
 * are replaced by renaming, or through the links of a mounted volume, tell of nothing.
 *
 * @throws {KeysNotOpened} when the file has no usable key now; later faults leave the known keys in force.
 */
export async function openWatchedKeys(path: string, options: WatchedKeysOptions): Promise<Keys> {
  const { current, update } = currentKeys(`the file ${path}`, options);
  let seen = await fingerprint(path);
  const first = await readKeysFile(path);
  if (first.outcome !== 'read')
    throw new KeysNotOpened(`The keys file "${path}" has changed: ${first.reason}`);
  update(first);
  let running: Promise<void> | undefined;

  async function reread(): Promise<void> {
    const now = await fingerprint(path);
    if (now === seen) return;
    seen = now;
    update(await readKeysFile(path));
  }

  function poll(): Promise<void> {
    running ??= reread().finally(() => {
      running = undefined;
    });
    return running;
  }

  const timer = setInterval(poll, options.intervalMs ?? INTERVAL_MS).unref();
  return {
    current,
    refresh: poll,
    retryAfter: () => 1,
    describe: () => `${count(current()?.length ?? 0)} from TODO_AUTH_KEYS_FILE`,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

function count(keys: number): string {
  return keys === 1 ? '1 public key' : `${keys} public keys`;
}

/** Differs when the file was written, replaced, or has come or gone. */
async function fingerprint(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code;
  }
}
