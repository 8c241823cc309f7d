import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../package/program.ts';
import { temporaryFolder } from '../support/folder.ts';

const PROGRAM = fileURLToPath(new URL('../../tools/regex.ts', import.meta.url));

/** What the check makes of a file with these lines; the names of files are left out. */
async function check(
  lines: readonly string[],
  file = 'module.ts',
): Promise<{ code: number | null; findings: string[] }> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, file);
  await writeFile(path, `${lines.join('\n')}\n`);
  const { code, stdout } = await run(process.execPath, [PROGRAM, path], { cwd: folder.path, env: {} });
  const findings = stdout.split('\n').filter((line) => line.startsWith(path));
  return { code, findings: findings.map((line) => line.slice(path.length + 1)) };
}

const WRONG = [
  ['an exponential expression', 'const a = /^(a+)+$/;', '/^(a+)+$/ is exponential'],
  ['a quadratic expression', 'const a = /\\s+$/;', '/\\s+$/ is 2nd degree polynomial'],
  ['a quadratic look behind', 'const a = /(?<=a+)b/;', '/(?<=a+)b/ is 2nd degree polynomial'],
  ['an argument of RegExp', "const a = RegExp('^(a|a)*$', 'i');", '/^(a|a)*$/i is exponential'],
  [
    'a pattern of a schema',
    "const P = '^(a|a)*$'; const schema = { items: { pattern: P } };",
    '/^(a|a)*$/u is exponential',
  ],
  ['flag v', 'const a = /[a--b]/v;', '/[a--b]/v has no proof'],
  [
    'an expression made at run time',
    "const a = (b: string) => new RegExp(b + '$');",
    '/…/ is made at run time',
  ],
] as const;

describe('The check of regular expressions', { concurrency: 2 }, () => {
  test('passes what is linear', async () => {
    const lines = [
      'const a: RegExp = /^[a-z]+(?:-[a-z]+)*$/;',
      'const b = new RegExp("^\\\\p{L}*$", "u");',
      "const schema = { type: 'string', pattern: '^[0-9]{1,9}$' };",
      'const c = /(?<!x)y/;',
    ];
    assert.deepEqual(await check(lines), { code: 0, findings: [] });
  });

  test('names a pattern of a document in JSON, and fails', async () => {
    const lines = ['{', '  "schema": { "pattern": "^(?:\\\\x41|A)*$" }', '}'];
    const { code, findings } = await check(lines, 'document.json');
    assert.equal(code, 1);
    assert.match(findings.join(), /^2: \/\^\(\?:\\x41\|A\)\*\$\/u is exponential/);
  });

  const found = check(WRONG.map(([, line]) => `{ ${line} }`));
  for (const [index, [what, , finding]] of WRONG.entries()) {
    test(`names ${what}, and fails`, async () => {
      const { code, findings } = await found;
      assert.equal(code, 1);
      const line = `${index + 1}: `;
      const ofLine = findings.filter((text) => text.startsWith(line));
      assert.deepEqual(
        ofLine.map((text) => text.slice(line.length, line.length + finding.length)),
        [finding],
      );
    });
  }
});
