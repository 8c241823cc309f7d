import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { temporaryFolder } from '../../test/support/folder.ts';
import { escapeHidden } from '../lib/quote.ts';
import { eventLogger, personLine } from './log.ts';

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

test('the stack of an error stands below its line, without control characters but line breaks', () => {
  const text = line({
    msg: 'unhandled exception',
    err: { type: 'Error', stack: 'Error: a\u001b[31m\n    at b' },
  });
  assert.equal(text, '10:17:03.123 INFO  unhandled exception\nError: a\\u001b[31m\n    at b\n');
});

test('control characters within a list cannot forge a line', () => {
  assert.doesNotMatch(line({ msg: 'keys loaded', kids: ['a\u0085b\u009b'] }).trimEnd(), /\p{C}/u);
});

test('each reason of a refusal is info once a minute, 30 reasons at most, and debug else', () => {
  const levels: number[] = [];
  let now = 0;
  const log = pino({ level: 'trace' }, { write: (json) => levels.push(JSON.parse(json).level) });
  const logEvent = eventLogger(log, true, () => now);
  const levelsOf = (...codes: readonly string[]) => {
    for (const code of codes)
      logEvent({ event: 'token-refused', code, kid: null, claim: undefined, traceId: code });
    return levels.splice(0);
  };
  assert.deepEqual(levelsOf('expired', 'expired', 'audience'), [30, 20, 30]);
  now = 59_999;
  assert.deepEqual(levelsOf('expired', 'audience'), [20, 20]);
  now = 60_000;
  assert.deepEqual(levelsOf('audience', 'audience'), [30, 20]);
  const others = Array.from({ length: 30 }, (_, index) => `code-${index}`);
  assert.deepEqual(levelsOf(...others), [...Array(29).fill(30), 20]);
});

/** Controls, bidirectional controls, zero-width characters, line separators, tags, and other invisible characters. */
const HIDDEN = [
  ...['\u0000', '\u001b', '\u007f', '\u009b', '\u00ad', '\u061c', '\u180e', '\u200b', '\u200c', '\u200d'],
  ...['\u200e', '\u200f', '\u2028', '\u2029', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2060'],
  ...['\u2064', '\u2066', '\u2067', '\u2068', '\u2069', '\u3164', '\ufe0f', '\ufeff', '\u0085', '\u{e0001}'],
];
const texts = fc
  .array(fc.oneof(fc.constantFrom(...HIDDEN, '\ud800', '\n'), fc.string({ unit: 'grapheme' })))
  .map((parts) => parts.join(''));

function assertShown(text: string): void {
  for (const character of HIDDEN) assert.ok(!text.includes(character), JSON.stringify(text));
  assert.ok(text.isWellFormed());
}

test('no hidden character of any text is in a line for machines, and the JSON stays the same', () => {
  fc.assert(
    fc.property(texts, (kid) => {
      const json = escapeHidden(JSON.stringify({ kid }));
      assertShown(json);
      assert.equal(JSON.parse(json).kid, kid);
    }),
  );
});

test('no hidden character of any text is in a line for people, which stays one line', () => {
  fc.assert(
    fc.property(texts, texts, (msg, kid) => {
      const text = line({ msg, kid });
      assertShown(text);
      assert.equal(text.indexOf('\n'), text.length - 1);
    }),
  );
});

test('text that shows is left as it is, in every script', () => {
  const shown = 'Grüße, Привет, 日本語, שלום, مرحبا, 😀';
  assert.equal(escapeHidden(shown), shown);
});

for (const [environment, stack] of [
  ['production', []],
  ['development', ['<3>Error: torn', '<3>    at here']],
] as const) {
  test(`each line begins with its level where standard output is the journal's, else not, in ${environment} [D15]`, async () => {
    await using folder = await temporaryFolder();
    const code = `import { openLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
      const { log } = openLog('${environment}', 'trace', process.env.JOURNAL_STREAM);
      for (const level of ['trace', 'debug', 'info', 'warn', 'fatal']) log[level]('a word');
      log.error({ err: Object.assign(new Error('torn'), { stack: 'Error: torn\\n    at here' }) }, 'a word');`;
    const said = (isJournal: boolean) => {
      const file = join(folder.path, `${isJournal}`);
      const fd = openSync(file, 'w');
      const { dev, ino } = fstatSync(fd);
      const env = { JOURNAL_STREAM: `${dev}:${isJournal ? ino : ino + 1}` };
      execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
        stdio: ['ignore', fd, 2],
        env,
      });
      return readFileSync(file, 'utf8').trimEnd().split('\n');
    };
    const marked = said(true);
    const levels = marked.map((text) => text.slice(0, 3));
    assert.deepEqual(levels, ['<7>', '<7>', '<6>', '<4>', '<2>', '<3>', ...stack.map(() => '<3>')]);
    assert.deepEqual(marked.slice(6), stack);
    assert.ok(said(false).every((text) => !text.startsWith('<')));
  });
}
