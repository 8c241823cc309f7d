import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file, in folders that are made for it. */
export function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Copies a file, into folders that are made for it. @param mode Permission bits; without it those of the file. */
export function copy(from: string, to: string, mode?: number): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  if (mode !== undefined) chmodSync(to, mode);
}

/** A line of `md5sum` or `sha256sum` about a file, which it calls `name`. */
export function sumLine(algorithm: 'md5' | 'sha256', path: string, name: string): string {
  return `${createHash(algorithm).update(readFileSync(path)).digest('hex')}  ${name}\n`;
}
