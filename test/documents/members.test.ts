import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CREATED, MEMBERS, type Member } from '../../src/shared-list/members.ts';

const { schemas } = JSON.parse(readFileSync('src/openapi/shared-list.v1.json', 'utf8')).components;
const { CreateTodo, ReplaceTodo, TodoResponse } = schemas;
const CLIENT = readFileSync('packages/client/src/client.ts', 'utf8');

/** What stands between two texts of the client. */
function inClient(from: string, to: string): string {
  const begin = CLIENT.indexOf(from);
  return CLIENT.slice(begin, CLIENT.indexOf(to, begin));
}

const page = (name: string) => readFileSync(`docs/${name}.md`, 'utf8');
const [PUT_BACK = ''] = /INSERT INTO todos .+ OVERRIDING/.exec(page('backup-and-restore')) ?? [];

/** Where each member of a todo has to be named by hand, and in which words. */
const PLACES: readonly (readonly [place: string, text: string, words: (member: Member) => string])[] = [
  [
    'CreateTodo',
    JSON.stringify(CreateTodo.properties),
    ({ name, inCreate }) => (inCreate ? `"${name}":` : ''),
  ],
  ['ReplaceTodo', JSON.stringify(ReplaceTodo.properties), ({ name }) => `"${name}":`],
  ['TodoResponse', JSON.stringify(TodoResponse.properties), ({ name }) => `"${name}":`],
  [
    'the type Todo of the client',
    inClient('export interface Todo ', '\n}'),
    ({ name }) => `readonly ${name}`,
  ],
  ['isTodo of the client', inClient('function isTodo', '\n}'), ({ name }) => `typeof ${name} ===`],
  ['docs/interface.md', page('interface'), ({ name }) => `\`${name}`],
  [
    'docs/contract.md',
    page('contract').split('### The format of an export')[1] ?? '',
    ({ name }) => `\`${name}\``,
  ],
  ['docs/backup-and-restore.md', PUT_BACK, ({ column }) => `, ${column}`],
];

test('every member of a todo stands in the schemas, the client and the pages that are written by hand', () => {
  const missing = PLACES.flatMap(([place, text, words]) =>
    MEMBERS.filter((member) => !text.includes(words(member))).map(
      ({ name }) => `${name} is missing in ${place}`,
    ),
  );
  assert.deepEqual(missing, []);
  assert.deepEqual(
    Object.keys(CreateTodo.properties),
    CREATED.map(({ name }) => name),
  );
});

test('the schemas require the members that requests without them are refused for', () => {
  const required = (members: readonly Member[]) =>
    members.filter(({ is, missing }) => !is(missing)).map(({ name }) => name);
  assert.deepEqual(ReplaceTodo.required, required(MEMBERS));
  assert.deepEqual(CreateTodo.required, required(CREATED));
});

test('a text has as many characters as its schema says', () => {
  const members: readonly Member[] = MEMBERS;
  for (const { name, kind, maxLength } of members) {
    const { $ref, ...own } = ReplaceTodo.properties[name] ?? {};
    const schema = $ref === undefined ? own : schemas[$ref.split('/').at(-1)];
    assert.equal(schema.maxLength, maxLength, name);
    assert.equal(maxLength === undefined, kind !== 'text', name);
  }
});
