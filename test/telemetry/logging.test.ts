import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { EVENTS } from '../../src/events.ts';
import { newTraceId } from '../../src/http/trace-id.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => [path, read(path)] as const);

/** Events with their level and fields. A group of the page may name fields that each of its events has. */
const documented = new Map(
  read('docs/logging.md')
    .split(/^(?=\*\*)/m)
    .flatMap((group) => {
      const [heading = ''] = group.split('\n', 1);
      const shared = namesIn(heading);
      return [...group.matchAll(/^- (`[a-z-]+`[^:]*):\s/gm)].flatMap(([, head = '']) =>
        head.split(/, until\s/).flatMap((part) => {
          const [before = '', fields = ''] = part.split('(');
          const level = /, (debug|warn|error|fatal)\b/.exec(before)?.[1] ?? 'info';
          return [...before.matchAll(/`([a-z-]+)`/g)].map(
            ([, event = '']) => [event, { level, fields: [...namesIn(fields), ...shared].sort() }] as const,
          );
        }),
      );
    }),
);

function namesIn(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name]) => String(name));
}

/** Event → fields, as the type of an event writes them. */
function fieldsIn(source: string): Map<string, string[]> {
  const types = new Map(
    [...source.matchAll(/^type (\w+) = (\{[^}]*\});/gm)].map(([, name, type]) => [name, type]),
  );
  const kinds = source.matchAll(
    /^ {2}'?([a-z-]+)'?: (?:debug|info|warn|error|fatal|refused)(?:<(\{[^}]*\}|\w+)>)?\(/gm,
  );
  return new Map(
    [...kinds].map(([, event = '', written = '']) => {
      const type = types.get(written) ?? written;
      return [event, [...type.matchAll(/(\w+)\??: /g)].map(([, name]) => String(name)).sort()];
    }),
  );
}

test('every event is documented with its level, and no other', () => {
  assert.ok(documented.size >= 20);
  const kinds = Object.entries(EVENTS).map(([event, { level }]) => [event, level]);
  const rows = [...documented].map(([event, { level }]) => [event, level]);
  assert.deepEqual(rows.sort(), kinds.sort());
});

test('every event has the documented fields', () => {
  const fields = fieldsIn(read('src/events.ts'));
  assert.deepEqual([...fields.keys()].sort(), Object.keys(EVENTS).sort());
  for (const [event, { fields: named }] of documented) assert.deepEqual(named, fields.get(event), event);
});

test('no line is written but what is told', () => {
  const writing = sources.filter(([, code]) =>
    /\blog(?:\.(?:trace|debug|info|warn|error|fatal)|\[[^\]]+\])\(/.test(code),
  );
  assert.deepEqual(
    writing.map(([path]) => path),
    ['src/telemetry/log.ts'],
  );
});

test('the expression for collectors takes a traceId apart', () => {
  const { receivers } = parse(read('deploy/collector.yaml'));
  const [json, split] = receivers.file_log.operators;
  assert.deepEqual(
    [json.timestamp.parse_from, json.severity.parse_from],
    ['attributes.time', 'attributes.level'],
  );
  const written: string = split.regex;
  const expression = new RegExp(written.replaceAll('(?P<', '(?<'));
  const traceId = newTraceId(undefined);
  const [version, ...parts] = traceId.split('-');
  assert.equal(version, '00');
  assert.deepEqual(Object.values(expression.exec(traceId)?.groups ?? {}), parts);
});
