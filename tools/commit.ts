import { spawnSync } from 'node:child_process';

/** The commit of a checkout, with `-dirty` behind it when files are changed; null where git knows of none. */
export function commitOf(folder: string): string | null {
  const words = ['-C', folder, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
