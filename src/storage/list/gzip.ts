import { setImmediate as turn } from 'node:timers/promises';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { Chunk } from './chunk.ts';

/** zlib's level. Above 3, it takes more than twice the time and saves some 5 % of a list. */
const LEVEL = 3;

/** Chunks that are compressed before other requests have their turn: some 2 ms. */
const CHUNKS_A_TURN = 8;

/** A member of gzip without a name, a time or a system (RFC 1952 §2.3). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** One byte in a block of its own, not compressed (RFC 1951 §3.2.4). It ends at a byte boundary, as all pieces here. */
function stored(character: string, isLast: boolean): Buffer {
  return Buffer.from([isLast ? 1 : 0, 1, 0, 0xfe, 0xff, character.charCodeAt(0)]);
}

const OPEN = stored('[', false);
const COMMA = stored(',', false);
const CLOSE = stored(']', true);

/**
 * Compressed chunks, the comma before each in a block of its own. A chunk is compressed once, by itself: versions of the
 * list share its compressed form too, and equal lists are equal bytes.
 */
const compressed = new WeakMap<Chunk, Buffer>();

function compress(chunk: Chunk): Buffer {
  const known = compressed.get(chunk);
  if (known !== undefined) return known;
  const blocks = deflateRawSync(chunk.json.subarray(1), {
    level: LEVEL,
    finishFlush: constants.Z_FULL_FLUSH,
  });
  // zlib's result is a part of a larger buffer.
  const piece = Buffer.allocUnsafeSlow(COMMA.length + blocks.length);
  COMMA.copy(piece);
  blocks.copy(piece, COMMA.length);
  compressed.set(chunk, piece);
  return piece;
}

/** Bytes of a chunk, and of its compressed copy where there is one. */
export function bytesOf(chunk: Chunk): number {
  return chunk.json.length + (compressed.get(chunk)?.length ?? 0);
}

/** The JSON array of the chunks, at least one, as one member of gzip (RFC 1952). */
export async function gzipOf(chunks: readonly Chunk[]): Promise<readonly Buffer[]> {
  const pieces = [HEADER, OPEN];
  let checksum = crc32('[');
  let length = 0;
  for (const [index, chunk] of chunks.entries()) {
    const piece = compress(chunk);
    pieces.push(index === 0 ? piece.subarray(COMMA.length) : piece);
    checksum = crc32(index === 0 ? chunk.json.subarray(1) : chunk.json, checksum);
    length += chunk.json.length;
    if (index % CHUNKS_A_TURN === CHUNKS_A_TURN - 1) await turn();
  }
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(']', checksum), 0);
  end.writeUInt32LE((length + 1) % 2 ** 32, 4);
  pieces.push(CLOSE, end);
  return pieces;
}
