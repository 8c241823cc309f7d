import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const sources = globSync('src/**/*.ts', { cwd: root.pathname })
  .filter((path) => !path.endsWith('.test.ts'))
  .map(read)
  .join('\n');

const documented = new Map(
  [...read('docs/logging.md').matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|([^|]*)\|/gm)].map(
    ([, event, level, fields]) => [
      String(event),
      {
        level: String(level),
        fields: [...String(fields).matchAll(/`(\w+)`/g)].map(([, name]) => String(name)),
      },
    ],
  ),
);

/** The names of the members of an object literal, given what is between its braces. */
function membersOf(literal: string): string[] {
  const flat = literal.replace(/\([^()]*\)/g, '').replace(/\([^()]*\)/g, '');
  return flat.split(',').map((member) => member.trim().replace(/:.*$/s, ''));
}

/** Event → fields, as the source writes them: `{ event: 'x', … }`. */
function written(): Map<string, string[]> {
  const withoutDestructuring = sources.replace(/\(\{ \w+ \}\)/g, '()');
  const events = new Map<string, string[]>();
  for (const [, event = '', inside = ''] of withoutDestructuring.matchAll(
    /\{\s*event: '([a-z-]+)',?([^{}]*)\}/g,
  )) {
    events.set(
      event,
      membersOf(inside).filter((name) => name !== ''),
    );
  }
  return events;
}

test('every event of the source is documented, and no other', () => {
  assert.ok(documented.size >= 20);
  assert.deepEqual([...documented.keys()].sort(), [...written().keys()].sort());
});

test('every event has the documented fields', () => {
  for (const [event, fields] of written()) assert.deepEqual(documented.get(event)?.fields, fields, event);
});

test('every event that is written where it is named has the documented level', () => {
  const calls = [...sources.matchAll(/log\.(\w+)\(\s*\{\s*event: '([a-z-]+)'/g)];
  assert.ok(calls.length >= 12);
  for (const [, level, event] of calls)
    assert.equal(documented.get(String(event))?.level, level, String(event));
});

test('no line is written without an event', () => {
  for (const [call] of sources.matchAll(
    /\blog(?:\.(?:trace|debug|info|warn|error|fatal)|\[level\])\(\s*[^\s]+/g,
  )) {
    assert.match(call, /\((?:\s*\{|line,)/, call);
  }
});
