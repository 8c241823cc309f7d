import { stat } from 'node:fs/promises';
import { errorCode } from '../../files.ts';
import { type FileSource, readKeySourceFile } from './files.ts';
import { currentKeys, type Keys, KeysNotOpened, type KeysOptions } from './keys.ts';

export interface WatchedKeysOptions extends KeysOptions {
  /** Between two polls of the file. */
  readonly intervalMs?: number;
}

/** A key or a secret that was taken out is trusted for less than a second. */
const INTERVAL_MS = 500;

/**
 * The keys or the secrets of a file, reread when it changes, and replaced only as a whole. Polls instead of waiting for
 * the file system to tell: files that are replaced by renaming, or through the links of a mounted volume, tell of nothing.
 *
 * @throws {KeysNotOpened} when the file has no usable key now; later faults leave the known keys in force.
 */
export async function openWatchedKeys(source: FileSource, options: WatchedKeysOptions): Promise<Keys> {
  const { kind, path } = source;
  const { current, update } = currentKeys(`the file ${path}`, options);
  let seen = await fingerprint(path);
  const first = await readKeySourceFile(source);
  if (first.outcome !== 'read') {
    throw new KeysNotOpened(
      `The ${kind === 'keys-file' ? 'keys' : 'secret'} file "${path}" has changed: ${first.reason}`,
    );
  }
  if (first.readableByOthers) options.tell({ event: 'secret-file-readable', path });
  let { contents } = first;
  update(first);
  let running: Promise<void> | undefined;

  async function reread(): Promise<void> {
    const now = await fingerprint(path);
    if (now === seen) return;
    const loaded = await readKeySourceFile(source);
    // Written or replaced meanwhile: half of it may have been read, and the next poll reads it again.
    if ((await fingerprint(path)) !== now) return;
    seen = now;
    if (update(loaded) && loaded.outcome === 'read') contents = loaded.contents;
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
    describe: () => contents,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
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
