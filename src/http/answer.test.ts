import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitsGzip } from './answer.ts';

for (const header of [
  'gzip',
  'GZIP',
  'br, gzip',
  'gzip;q=0.001',
  'x-gzip',
  '*',
  'identity;q=0, *;q=0.5',
  'gzip , , br',
  'gzip ; q=0.5',
  'gzip\t;\tQ=1.000',
  'gzip;q=1',
]) {
  test(`Accept-Encoding ${JSON.stringify(header)} admits gzip [RFC 9110 §12.5.3]`, () =>
    assert.equal(admitsGzip(header), true));
}

for (const header of [
  undefined,
  '',
  'identity',
  'br',
  'gzip;q=0',
  'gzip;q=0.000, *',
  'gzip ; q=0, *',
  'gzip;q=1.001',
  'gzip;q=0.0001',
  'a gzip',
  '*;q=0',
  'gzip;q=2',
  'gzipped',
]) {
  test(`Accept-Encoding ${JSON.stringify(header) ?? 'missing'} does not admit gzip [RFC 9110 §12.5.3]`, () => {
    assert.equal(admitsGzip(header), false);
  });
}
