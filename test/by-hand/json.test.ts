import { describe } from 'node:test';
import { visit } from 'jsonc-parser';
import { holds, thrown } from './holds.ts';

describe('JSON from outside', () => {
  holds('JSON.parse takes the last of two members of one name', () => JSON.parse('{"a":1,"a":2}'), { a: 2 });
  holds(
    'JSON.parse nests without an end',
    () => thrown(() => JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))),
    undefined,
  );
  holds(
    'JSON.parse has no place for a missing value, and quotes the text',
    () => messageOf('{"a":}'),
    'SyntaxError: Unexpected token \'}\', "{"a":}" is not valid JSON',
  );
  holds(
    'jsonc-parser overflows the stack at 10,000 brackets',
    () => thrown(() => visit('['.repeat(10_000), {})),
    'RangeError',
  );
});

function messageOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return String(error);
  }
}
