/** A body: a short text, which leaves with the head in one write; bytes; or pieces, which answers may share. */
export type Body = string | Buffer | readonly Uint8Array[];

/** The bytes of a body; only a text is copied. */
export function buffersOf(body: Body): readonly Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}

/** In bytes. */
export function lengthOf(body: Body): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, { length }) => sum + length, 0);
}
