import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineLine, personLine } from './log.ts';

const line = (fields: object) =>
  personLine(JSON.stringify({ level: 'info', time: '2026-11-21T10:17:03.123Z', ...fields }));

test('a line for people has the time of day, the level, the message and the fields', () => {
  const fields = { pid: 1, event: 'stopping', msg: 'stopping', signal: 'SIGTERM', status: 200 };
  assert.equal(line(fields), '10:17:03.123 INFO  stopping  signal=SIGTERM  status=200\n');
});

test('a value that is not one plain word is quoted, so that it cannot forge a field', () => {
  const text = line({ msg: 'token refused', kid: 'a  status=200', code: 'key-unknown', empty: '' });
  assert.equal(text, '10:17:03.123 INFO  token refused  kid="a  status=200"  code=key-unknown  empty=""\n');
});

test('control characters cannot forge a line or move the cursor', () => {
  const forged = line({ msg: 'a\n10:17:04 ERROR b', route: '\u001b[2J\u0085\u2066x' });
  assert.equal(forged.split('\n').length, 2);
  assert.doesNotMatch(forged.trimEnd(), /\p{C}/u);
});

test('the stack of an error stands below its line, without control characters but line breaks', () => {
  const text = line({
    msg: 'unhandled exception',
    err: { type: 'Error', stack: 'Error: a\u001b[31m\n    at b' },
  });
  assert.equal(text, '10:17:03.123 INFO  unhandled exception\nError: a?[31m\n    at b\n');
});

test('a line for machines stays the same JSON without a control character', () => {
  const fields = { kid: 'a\u0085b\u009b2J\u2028c\u007f', msg: 'd' };
  const json = machineLine(JSON.stringify(fields));
  assert.doesNotMatch(json, /[\p{Cc}\p{Zl}\p{Zp}]/u);
  assert.deepEqual(JSON.parse(json), fields);
});

test('control characters within a list cannot forge a line', () => {
  assert.doesNotMatch(line({ msg: 'keys loaded', kids: ['a\u0085b\u009b'] }).trimEnd(), /\p{C}/u);
});
