import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimAt, parseClaimPath } from './claim-path.ts';

const CLAIMS = JSON.parse(`{
  "roles": ["a", "b"], "realm_access": { "roles": ["editor"] }, "https://todo.example/roles": ["editor"],
  "a/b": 1, "m~n": 2, "": 3, "deep": { "": { "x": 4 } }, "__proto__": { "own": 5 }, "text": "editor"
}`);

/** Configured text, what it finds; the escapes are those of RFC 6901 §5. */
const FINDS: readonly (readonly [string, unknown])[] = [
  ['roles', ['a', 'b']],
  ['/roles', ['a', 'b']],
  ['/roles/1', 'b'],
  ['/roles/01', undefined],
  ['/roles/-', undefined],
  ['/roles/length', undefined],
  ['/roles/2', undefined],
  ['/realm_access/roles', ['editor']],
  ['realm_access/roles', undefined],
  ['realm_access.roles', undefined],
  ['https://todo.example/roles', ['editor']],
  ['/a~1b', 1],
  ['a/b', 1],
  ['/m~0n', 2],
  ['/', 3],
  ['/deep//x', 4],
  ['/__proto__/own', 5],
  ['constructor', undefined],
  ['/constructor/name', undefined],
  ['/text/length', undefined],
  ['/text/0', undefined],
  ['/absent/roles', undefined],
];

for (const [text, expected] of FINDS) {
  test(`A10 · the claim ${JSON.stringify(text)} is ${JSON.stringify(expected)}`, () => {
    const path = parseClaimPath(text);
    assert.ok(path);
    assert.deepEqual(claimAt(CLAIMS, path), expected);
  });
}

for (const text of ['/a~', '/a~2', '/~', '/ok/~x']) {
  test(`${text} is no JSON Pointer`, () => assert.equal(parseClaimPath(text), undefined));
}
