import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { execute, fill, newDatabase, newPath } from './new-files.ts';

/** The bytes of the files of a database, by their suffixes. */
export type Files = ReadonlyMap<string, Buffer>;

const SUFFIXES = ['', '-wal', '-shm', '-journal'];

const PAGE = 4_096;

/** Files that a program left which was closed, and two that were killed: one with a log, one half-way in a change. */
export async function leftFiles(): Promise<readonly Files[]> {
  const [closed, logged, undone] = [await newDatabase(), await newDatabase(), await newDatabase()];
  for (const path of [closed, logged, undone]) fill(path, 200);
  execute(undone, 'PRAGMA journal_mode = DELETE');
  using withLog = new DatabaseSync(logged);
  withLog.exec("PRAGMA journal_mode = WAL; UPDATE todos SET title = 'logged' WHERE id % 3 = 0");
  using halfWay = new DatabaseSync(undone);
  halfWay.exec("PRAGMA cache_size = 1; BEGIN; UPDATE todos SET title = title || ' changed'");
  return [closed, logged, undone].map(filesOf);
}

export function filesOf(path: string): Files {
  const there = SUFFIXES.filter((suffix) => existsSync(path + suffix));
  return new Map(there.map((suffix) => [suffix, readFileSync(path + suffix)]));
}

/** Writes files into a folder of their own. The result is the path of the database. */
export function written(files: Files): string {
  const path = newPath();
  for (const [suffix, bytes] of files) writeFileSync(path + suffix, bytes);
  return path;
}

/** A file with other bytes at a place; one that is further away than its end is its end. */
export function put(file: Buffer, at: number, bytes: Uint8Array): Buffer {
  const start = Math.min(at, file.length);
  return Buffer.concat([file.subarray(0, start), bytes, file.subarray(start + bytes.length)]);
}

/** Bytes from a place on: the header of the file is often hit, and that of a page. */
const place = fc.oneof(
  fc.nat(120),
  fc.record({ page: fc.nat(8), at: fc.nat(20) }).map(({ page, at }) => page * PAGE + at),
  fc.nat(8 * PAGE),
);

const change: fc.Arbitrary<(file: Buffer) => Buffer> = fc.oneof(
  fc.record({ at: place, bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }) }).map(
    ({ at, bytes }) =>
      (file: Buffer) =>
        put(file, at, bytes),
  ),
  fc.record({ at: place, length: fc.nat(2 * PAGE), value: fc.constantFrom(0, 0x53, 0xff) }).map(
    ({ at, length, value }) =>
      (file: Buffer) =>
        put(file, at, Buffer.alloc(length, value)),
  ),
  fc.record({ from: fc.nat(8), to: fc.nat(8) }).map(
    ({ from, to }) =>
      (file: Buffer) =>
        put(file, to * PAGE, file.subarray(from * PAGE, (from + 1) * PAGE)),
  ),
  place.map((length) => (file: Buffer) => file.subarray(0, length)),
  fc.record({ length: fc.nat(3 * PAGE), value: fc.constantFrom(0, 0xff) }).map(
    ({ length, value }) =>
      (file: Buffer) =>
        Buffer.concat([file, Buffer.alloc(length, value)]),
  ),
);

/** What a broken disk, a torn copy or another program may make of files: other bytes, other pages, other lengths. */
export const damage: fc.Arbitrary<(files: Files) => Files> = fc
  .array(fc.record({ suffix: fc.constantFrom(...SUFFIXES), change }), { minLength: 1, maxLength: 3 })
  .map((changes) => (files: Files) => {
    const damaged = new Map(files);
    for (const { suffix, change } of changes)
      damaged.set(suffix, change(damaged.get(suffix) ?? Buffer.alloc(0)));
    return damaged;
  });
