import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startService } from '../support/start.ts';

const README = readFileSync('README.md', 'utf8');

const skip = spawnSync('curl', ['--version']).error !== undefined && 'needs curl';

test('the curl lines of README.md are answered as it says', { skip }, async () => {
  const [, typed = '', answers = ''] = /```sh\n(TOKEN=[^`]+)```\n\n[^`]+```\n([^`]+)```/.exec(README) ?? [];
  await using service = await startService({ environment: 'development' });
  const script = typed
    .replace('npm run -s token --', 'tools/runtime/node src/start.js token create --data-dir "$DATA_DIR"')
    .replace('http://127.0.0.1:5080', service.baseUrl);
  const env = { PATH: process.env.PATH, DATA_DIR: service.dataDir };
  const { stdout } = await promisify(execFile)('bash', ['-ec', script], { env });
  const received = stdout.replaceAll('\r', '');
  const lines = received.split('\n');
  const shown = answers.split('\n').filter((line) => line !== '');
  assert.equal(shown.filter((line) => line.startsWith('HTTP/1.1')).length, 5);
  let from = 0;
  for (const line of shown) {
    const at = lines.findIndex((other, index) => index >= from && masked(other) === masked(line));
    assert.notEqual(at, -1, `after line ${from} there is no "${line}" in\n${received}`);
    from = at + 1;
  }
  assert.equal(lines.filter((line) => line.startsWith('HTTP/1.1')).length, 5);
});

/** A trace id is another one each time. */
function masked(line: string): string {
  return line.replace(/"traceId":"[^"]+"/, '"traceId":"…"');
}
