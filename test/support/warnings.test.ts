import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTests } from './inner-run.ts';

const WARNING = 'process.emitWarning("careful")';

const WAYS = {
  'the process of a test': `test('a', () => { ${WARNING}; }); test('b', () => {});`,
  'a thread of a test': `import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    test('a', () => once(new Worker('${WARNING}', { eval: true }), 'exit'));`,
  'a program that a test starts': `import { spawnSync } from 'node:child_process';
    test('a', () => { spawnSync(process.execPath, ['-e', '${WARNING}']); });`,
  'a file, after its last test': `test('a', () => { setTimeout(() => ${WARNING}, 50); });`,
};

for (const [what, code] of Object.entries(WAYS)) {
  test(`a warning of ${what} is a failure`, async () => {
    const { stdout } = await runTests({ warns: `import { test } from 'node:test';\n${code}` });
    assert.match(stdout, /^ℹ fail 1$/m);
    assert.match(stdout, /careful/);
  });
}

test('a title with a control character is a failure', async () => {
  const { stdout } = await runTests({
    title: String.raw`import { test } from 'node:test'; test('a\0', () => {});`,
  });
  assert.match(stdout, /^Error: A title has a control character: "a\\u0000"$/m);
  assert.match(stdout, /^ℹ fail 1$/m);
});
