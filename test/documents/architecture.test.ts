import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** What each room may use, by the table of docs/architecture.md. */
const ROOMS = new Map(
  readFileSync('docs/architecture.md', 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 5 && /^`[\w.-]+`$/.test(cells[1] ?? ''))
    .map(([, room = '', , uses = '']) => [unquoted(room), uses.split(', ').map(unquoted)]),
);

const FILES = globSync('src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));

test('docs/architecture.md has a row for every room', () => {
  const folders = FILES.map(roomOf).filter((room) => !room.endsWith('.ts'));
  assert.deepEqual(
    [...new Set(folders)].filter((room) => !ROOMS.has(room)),
    [],
  );
});

test('no room uses another that docs/architecture.md does not allow it', () => {
  const edges = FILES.flatMap((path) =>
    importsOf(path).map((imported) => ({ path, from: roomOf(path), imported, to: roomOf(imported) })),
  );
  assert.ok(edges.length > 300, `only ${edges.length} imports were found`);
  assert.deepEqual(
    edges.filter(({ from, to }) => {
      const isGround = !ROOMS.has(to);
      return from !== to && !isGround && !(ROOMS.get(from) ?? []).includes(to);
    }),
    [],
  );
});

/** The folder below `src`, or the file; the two adapters are rooms of their own. */
function roomOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return first === 'store' && (second === 'sqlite' || second === 'postgres') ? second : first;
}

/** What a file imports when it runs: no types. */
function importsOf(path: string): readonly string[] {
  const code = readFileSync(path, 'utf8');
  const specifiers = code.matchAll(
    /^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'|import\('(\.[^']+)'\)/gm,
  );
  return Array.from(specifiers, ([, first, second]) => join(dirname(path), first ?? second ?? ''));
}

function unquoted(text: string): string {
  return text.replaceAll('`', '');
}
