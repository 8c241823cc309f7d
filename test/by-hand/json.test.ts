import { describe } from 'node:test';
import { visit } from 'jsonc-parser';
import manifest from '../../package.json' with { type: 'json' };
import { holds, thrown } from './holds.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** Node.js 26.12 has the fault of `JSON.parse` no more; 24.21 has it. */
const isMended = major > 26 || (major === 26 && minor >= 12);

describe('JSON from outside', () => {
  if (!isMended)
    holds('JSON.parse gives a name of an earlier text, in place of one that is written with an escape', () => {
      JSON.parse('{"h":[],"\\\\":0}');
      return Object.keys(JSON.parse('{"h":1,"\\"":2}'));
    }, ['h', '\\']);
  holds('a Node.js with this fault of JSON.parse is supported', () => manifest.engines.node, '>=24.15.0');
  holds(
    'jsonc-parser overflows the stack at 10,000 brackets',
    () => thrown(() => visit('['.repeat(10_000), {})),
    'RangeError',
  );
});
