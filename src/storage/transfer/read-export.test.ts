import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Rows } from './contents.ts';
import { readExport } from './read-export.ts';

const HEAD = '{"format":"todo-service-export","version":1,"highestId":9,"categories":2,"todos":2,"keys":2}';
const WORK = '{"id":1,"name":"Work"}';
const LIFE = '{"id":2,"name":"Life"}';
const FIRST = '{"id":3,"title":"Buy milk \u{1F95B}","done":false,"categoryId":1}';
const SECOND = '{"id":5,"title":"a","done":true,"categoryId":2}';
const keyLine = (letter: string, more = '') =>
  `{"key":"${letter.repeat(43)}","body":"${'b'.repeat(43)}","todoId":3,"at":"2026-11-22T09:30:00Z"${more}}`;
const LINES: readonly string[] = [HEAD, WORK, LIFE, FIRST, SECOND, keyLine('A'), keyLine('B')];

function fileOf(lines: readonly string[]): Buffer {
  const text = lines.map((line) => `${line}\n`).join('');
  return Buffer.from(`${text}{"sha256":"${createHash('sha256').update(text).digest('hex')}"}\n`);
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Uint8Array, size = 65_536) {
  const rows: Rows[] = [];
  const contents = await readExport(chunksOf(bytes, size), async (part) => void rows.push(part));
  return {
    contents,
    todos: rows.flatMap(({ todos }) => todos),
    keys: rows.flatMap(({ keys }) => keys),
  };
}

/** @param lines All but the last, which is made for them. */
function refused(lines: readonly string[], message: string | RegExp): Promise<void> {
  return assert.rejects(read(fileOf(lines)), { name: 'BackupRefused', reason: 'bad-data', message });
}

const replaced = (at: number, line: string): readonly string[] => LINES.with(at, line);

test('an export is read whatever the size of the parts in which it comes [E1]', async () => {
  for (const size of [1, 2, 7, 64, 65_536]) {
    const { contents, todos, keys } = await read(fileOf(LINES), size);
    assert.deepEqual(contents, { categories: 2, todos: 2, keys: 2, highestId: 9, highestCategoryId: 2 });
    assert.deepEqual(
      todos.map(({ id, title, done, categoryId }) => [id, title, done, categoryId]),
      [
        [3, 'Buy milk \u{1F95B}', false, 1],
        [5, 'a', true, 2],
      ],
    );
    assert.deepEqual(
      keys.map(({ key, todoId, at }) => [key[0], todoId, at]),
      [
        ['A', 3, 1_795_339_800],
        ['B', 3, 1_795_339_800],
      ],
    );
  }
});

test('a program that writes an export may leave out keys and the highest id [E1]', async () => {
  const head = '{"format":"todo-service-export","version":1,"categories":2,"todos":2}';
  const { contents } = await read(fileOf([head, WORK, LIFE, FIRST, SECOND]));
  assert.deepEqual(contents, { categories: 2, todos: 2, keys: 0, highestId: 5, highestCategoryId: 2 });
});

test('an export of no rows is read [E1]', async () => {
  const head = '{"format":"todo-service-export","version":1,"highestId":0,"categories":0,"todos":0,"keys":0}';
  const { contents } = await read(fileOf([head]));
  assert.deepEqual(contents, { categories: 0, todos: 0, keys: 0, highestId: 0, highestCategoryId: 0 });
});

test('a line of 8,192 bytes with its line feed is read, and one more byte is refused, whatever the parts [E1; E4]', async () => {
  const longest = WORK.padEnd(8_191, ' ');
  for (const size of [1, 65_536]) {
    await read(fileOf(replaced(1, longest)), size);
    await assert.rejects(read(fileOf(replaced(1, `${longest} `)), size), {
      message: 'line 2: it must have at most 8192 bytes',
    });
  }
});

test('an export that is cut off at any byte is refused [E4]', async () => {
  const whole = fileOf(LINES);
  for (let length = 0; length < whole.length; length += 1) {
    await assert.rejects(read(whole.subarray(0, length)), {
      name: 'BackupRefused',
      message: /^it ends (within|before) line \d+, so it was cut off$/,
    });
  }
});

test('an export with any byte changed is refused [E4]', async () => {
  const whole = fileOf(LINES);
  for (let at = 0; at < whole.length; at += 1) {
    for (const mask of [0x01, 0x20, 0x80]) {
      const changed = Buffer.from(whole);
      changed[at] = (whole[at] ?? 0) ^ mask;
      await assert.rejects(read(changed), { name: 'BackupRefused' }, `byte ${at}, mask ${mask}`);
    }
  }
});

test('a line that stands there twice, is missing or has changed places is refused [E4]', async () => {
  for (let at = 0; at < LINES.length; at += 1) {
    const line = LINES[at] ?? '';
    await refused(LINES.toSpliced(at, 0, line), /^line \d+: /);
    await refused(LINES.toSpliced(at, 1), /^line \d+: /);
    if (at < LINES.length - 1)
      await refused(LINES.toSpliced(at, 1).toSpliced(at + 1, 0, line), /^line \d+: /);
  }
});

test('lines that are sound and not those that were written are refused by their SHA-256 [E4]', async () => {
  const text = fileOf(LINES).toString().replace('Buy milk', 'Buy silk');
  await assert.rejects(read(Buffer.from(text)), {
    message: 'line 8: the lines before it are not what was written: they have another SHA-256',
  });
});

const title = (text: string) => `{"id":3,"title":${text},"done":false,"categoryId":1}`;
const bad: readonly (readonly [lines: readonly string[], message: string | RegExp])[] = [
  [
    replaced(0, HEAD.replace('"version":1', '"version":2')),
    'line 1: "version" must be 1, the newest that this program reads',
  ],
  [replaced(0, '{"todos":2}'), 'line 1: "format" must be "todo-service-export"'],
  [replaced(0, `\ufeff${HEAD}`), /^line 1: it is not JSON, column 1: /],
  [replaced(0, HEAD.replace('"todos":2', '"todos":-1')), /^line 1: "todos" must be an integer from 0 to /],
  [replaced(0, HEAD.replace('"todos":2', '"todos":1e99')), /^line 1: "todos" must be /],
  [
    replaced(0, HEAD.replace('"highestId":9', '"highestId":4')),
    /^line 5: "id" must be at most 4, the "highestId" of/,
  ],
  [
    replaced(0, HEAD.replace('"highestId":9', '"highestId":null')),
    /^line 1: "highestId" must be .*, or left out$/,
  ],
  [replaced(1, '{"id":0,"name":"Work"}'), 'line 2: "id" must be an integer from 1 to 2147483647'],
  [replaced(1, '{"id":1,"name":" Work"}'), /^line 2: "name" must be 1 to 100 characters on one line/],
  [replaced(1, `{"id":1,"name":"${'n'.repeat(101)}"}`), /^line 2: "name" must be /],
  [replaced(1, '{"id":1,"name":"Work","owner":"me"}'), 'line 2: there must be no member "owner"'],
  [
    replaced(1, `{"id":1,"name":"Work","${'o'.repeat(51)}":0}`),
    `line 2: there must be no member "${'o'.repeat(50)}"`,
  ],
  [replaced(1, '{"id":1,"name":"Work","__proto__":{}}'), 'line 2: there must be no member "__proto__"'],
  [replaced(2, '{"id":1,"name":"Life"}'), 'line 3: "id" must be above 1, received 1'],
  [replaced(3, title('""')), 'line 4: "title" must not be empty or only white space'],
  [replaced(3, title('" \\u2003"')), 'line 4: "title" must not be empty or only white space'],
  [replaced(3, title(`"${'\u{1F95B}'.repeat(101)}"`)), 'line 4: "title" must have at most 100 characters'],
  [replaced(3, title('"a\\u0000"')), 'line 4: "title" must be well-formed Unicode text without U+0000'],
  [replaced(3, title('"\\ud800"')), 'line 4: "title" must be well-formed Unicode text without U+0000'],
  [
    replaced(3, title(`"${' '.repeat(101)}"`)),
    'line 4: "title" must not be empty or only white space and must have at most 100 characters',
  ],
  [replaced(3, title('null')), 'line 4: "title" must be a string'],
  [
    replaced(3, FIRST.replace('"id":3', '"id":2147483648')),
    /^line 4: "id" must be an integer from 1 to 2147483647$/,
  ],
  [replaced(3, FIRST.replace('"id":3', '"id":3.5')), /^line 4: "id" must be /],
  [replaced(3, FIRST.replace('"id":3', '"id":"3"')), /^line 4: "id" must be /],
  [
    replaced(3, FIRST.replace('"id":3', '"id":3,"id":4')),
    /^line 4: it is not JSON, column \d+: This member stands there twice/,
  ],
  [replaced(3, FIRST.replace('false', '0')), 'line 4: "done" must be true or false'],
  [
    replaced(3, FIRST.replace('"categoryId":1', '"categoryId":7')),
    'line 4: "categoryId" must be the id of a category, received 7',
  ],
  [replaced(3, '[]'), 'line 4: it must be a JSON object'],
  [replaced(3, 'null'), 'line 4: it must be a JSON object'],
  [replaced(3, ''), /^line 4: it is not JSON, column 1: /],
  [replaced(4, SECOND.replace('"id":5', '"id":3')), 'line 5: "id" must be above 3, received 3'],
  [
    replaced(5, keyLine('A').replace('AAA', 'A')),
    'line 6: "key" must be a SHA-256 in base64url, 43 characters',
  ],
  ...['"A', 'A"'].map(
    (edge) =>
      [
        replaced(5, keyLine('A').replace(edge, `${edge[0]}A${edge[1]}`)),
        'line 6: "key" must be a SHA-256 in base64url, 43 characters',
      ] as const,
  ),
  [
    replaced(5, keyLine('A').replace(/"(A+)"/, '["$1"]')),
    'line 6: "key" must be a SHA-256 in base64url, 43 characters',
  ],
  [
    replaced(5, keyLine('A').replace('09:30:00Z', '09:30:00.5Z')),
    /^line 6: "at" must be a time in UTC and whole seconds/,
  ],
  ...['2026-02-30', '0000-12-31', '-000001-11-22', '+010000-11-22'].map(
    (date) => [replaced(5, keyLine('A').replace('2026-11-22', date)), /^line 6: "at" must be /] as const,
  ),
  [replaced(5, keyLine('A').replace('09:30:00Z', '09:30:00+01:00')), /^line 6: "at" must be /],
  [replaced(5, keyLine('A').replace('"todoId":3', '"todoId":10')), /^line 6: "todoId" must be at most 9/],
  [replaced(6, keyLine('A')), /^line 7: "key" must come after that of the line before/],
  [replaced(6, `${keyLine('B')}${' '.repeat(100_000)}`), /^line 7: it must have at most \d+ bytes$/],
];

for (const [lines, message] of bad) {
  test(`a file of a broken rule is refused with its line: ${message} [E4]`, () => refused(lines, message));
}

test('what is not UTF-8 is refused with its line [E4]', async () => {
  const bytes = fileOf(LINES);
  bytes[bytes.indexOf('milk')] = 0xff;
  await assert.rejects(read(bytes), { message: 'line 4: it must be UTF-8' });
});

test('what follows the last line is refused [E4]', async () => {
  const whole = fileOf(LINES);
  await assert.rejects(read(Buffer.concat([whole, Buffer.from('\n')])), { message: /^line 9: / });
  await assert.rejects(read(Buffer.concat([whole, whole])), { message: /^line 9: / });
  await assert.rejects(read(Buffer.concat([whole, Buffer.from('x')])), { message: /^it ends within line 9/ });
});

test('a line that never ends is refused when it is too long [E4]', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${HEAD}\n{"id":1,"name":"`);
    for (;;) {
      given += 1;
      yield Buffer.alloc(1_000, 'a');
    }
  }
  await assert.rejects(
    readExport(endless(), async () => {}),
    { message: /^line 2: it must have at most \d+ bytes$/ },
  );
  assert.ok(given < 100);
});
