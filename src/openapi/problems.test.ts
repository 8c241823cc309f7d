import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemResponse, problemsOfKind, type RouteKind } from './problems.ts';

const kinds: readonly (readonly [kind: RouteKind, statuses: string])[] = [
  [{ access: 'open', hasId: false, readsBody: false }, '413 500'],
  [{ access: 'open', hasId: true, readsBody: false }, '404 413 500'],
  [{ access: 'authenticated', hasId: false, readsBody: false }, '401 413 500 503'],
  [{ access: 'CanWriteTodos', hasId: true, readsBody: false }, '401 403 404 413 500 503'],
  [{ access: 'CanWriteTodos', hasId: false, readsBody: true }, '400 401 403 413 415 500 503'],
];

for (const [kind, statuses] of kinds) {
  test(`a route of the kind ${JSON.stringify(kind)} can answer ${statuses}`, () => {
    const found = problemsOfKind(kind).map(({ status }) => status);
    assert.equal(found.toSorted().join(' '), statuses);
  });
}

test('a problem stands in the document as the service writes it, members in the order of contract P2', () => {
  const { content } = problemResponse(409, [
    { when: 'Done.', status: 409, title: 'Done', detail: 'It is done.' },
  ]);
  const { examples } = content['application/problem+json'] as { examples: Record<string, { value: object }> };
  assert.deepEqual(
    Object.values(examples).map(({ value }) => Object.entries(value)),
    [
      [
        ['type', 'https://tools.ietf.org/html/rfc9110#section-15.5.10'],
        ['title', 'Done'],
        ['status', 409],
        ['detail', 'It is done.'],
        ['traceId', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
      ],
    ],
  );
});

test('N2 · a problem has its line of text, with the reason phrase whatever its title', () => {
  const { content } = problemResponse(409, [{ when: 'Done.', status: 409, title: 'Done' }]);
  assert.deepEqual(content['text/plain'], {
    schema: { type: 'string', const: 'Status Code: 409; Conflict' },
  });
});

test('N3 · a 500 has no line of text, and is kept by nobody', () => {
  const { content, headers } = problemResponse(500, [{ when: 'Broken.', status: 500 }]);
  assert.deepEqual(Object.keys(content), ['application/problem+json']);
  assert.deepEqual(headers['Cache-Control']?.schema, { type: 'string', const: 'no-cache,no-store' });
});
