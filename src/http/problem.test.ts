import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonPhrase } from './answer.ts';
import { problemBody } from './problem.ts';

/** Type and title where the endpoint gives none. */
function said(status: number): [type: unknown, title: unknown] {
  const { type, title } = JSON.parse(problemBody({ status }, ''));
  return [type, title];
}

const rows: readonly (readonly [number, string, string])[] = [
  [400, '15.5.1', 'Bad Request'],
  [401, '15.5.2', 'Unauthorized'],
  [402, '15.5.3', 'Payment Required'],
  [403, '15.5.4', 'Forbidden'],
  [404, '15.5.5', 'Not Found'],
  [405, '15.5.6', 'Method Not Allowed'],
  [406, '15.5.7', 'Not Acceptable'],
  [407, '15.5.8', 'Proxy Authentication Required'],
  [408, '15.5.9', 'Request Timeout'],
  [409, '15.5.10', 'Conflict'],
  [410, '15.5.11', 'Gone'],
  [411, '15.5.12', 'Length Required'],
  [412, '15.5.13', 'Precondition Failed'],
  [413, '15.5.14', 'Content Too Large'],
  [414, '15.5.15', 'URI Too Long'],
  [415, '15.5.16', 'Unsupported Media Type'],
  [416, '15.5.17', 'Range Not Satisfiable'],
  [417, '15.5.18', 'Expectation Failed'],
  [421, '15.5.20', 'Misdirected Request'],
  [422, '15.5.21', 'Unprocessable Content'],
  [426, '15.5.22', 'Upgrade Required'],
  [500, '15.6.1', 'An error occurred while processing your request.'],
  [501, '15.6.2', 'Not Implemented'],
  [502, '15.6.3', 'Bad Gateway'],
  [503, '15.6.4', 'Service Unavailable'],
  [504, '15.6.5', 'Gateway Timeout'],
  [505, '15.6.6', 'HTTP Version Not Supported'],
];

for (const [status, section, title] of rows) {
  test(`${status} is "${title}" of RFC 9110 section ${section} [P3; P4]`, () => {
    assert.deepEqual(said(status), [`https://tools.ietf.org/html/rfc9110#section-${section}`, title]);
  });
}

test('a status outside RFC 9110 has no type [P3]', () => {
  assert.deepEqual(said(429), [undefined, 'Too Many Requests']);
  assert.deepEqual(said(431), [undefined, 'Request Header Fields Too Large']);
});

test('the reason phrase of 500 is not the title of its problem', () => {
  assert.equal(reasonPhrase(500), 'Internal Server Error');
});
