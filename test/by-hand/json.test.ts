import { describe } from 'node:test';
import { visit } from 'jsonc-parser';
import { holds, thrown } from './holds.ts';

describe('JSON from outside', () => {
  holds('JSON.parse gives a name of an earlier text, in place of one that is written with an escape', () => {
    JSON.parse('{"h":[],"\\\\":0}');
    return Object.keys(JSON.parse('{"h":1,"\\"":2}'));
  }, ['h', '\\']);
  holds(
    'jsonc-parser overflows the stack at 10,000 brackets',
    () => thrown(() => visit('['.repeat(10_000), {})),
    'RangeError',
  );
});
