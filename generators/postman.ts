import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import converter from 'openapi-to-postmanv2';

interface Item {
  readonly item?: readonly Item[];
  readonly request?: { readonly method: string };
}

/** Postman's own converter makes a collection with a request for each operation. */
export async function toPostman(document: URL, requests: number): Promise<void> {
  const data = await readFile(document, 'utf8');
  const { promise, resolve, reject } = Promise.withResolvers<readonly Item[]>();
  converter.convert({ type: 'string', data }, {}, (error, result) => {
    const collection = (result as Conversion | undefined)?.output?.[0]?.data;
    if (collection === undefined) reject(error ?? new Error('Postman could not convert it'));
    else resolve(collection.item);
  });
  assert.equal(countOf(await promise), requests);
}

interface Conversion {
  readonly output?: readonly { readonly data: { readonly item: readonly Item[] } }[];
}

function countOf(items: readonly Item[]): number {
  return items.reduce(
    (sum, { item = [], request }) => sum + countOf(item) + (request === undefined ? 0 : 1),
    0,
  );
}
