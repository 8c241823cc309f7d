import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { plain } from './environment.ts';
import { temporaryFolder } from './folder.ts';

const CHOSEN = {
  PGSSLMODE: 'require',
  PGOPTIONS: '-c statement_timeout=1',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  OTEL_SERVICE_NAME: 'another',
  TODO_DATABASE: 'mysql://nowhere',
  PORT: 'tcp://10.0.0.2:80',
  http_proxy: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NODE_USE_ENV_PROXY: '1',
  FORCE_COLOR: '1',
  CLICOLOR: '1',
  NODE_ENV: 'production',
  GIT_DIR: '/nowhere',
};

test('a test sees nothing of what a machine or its user has chosen, and new files are for others to read', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write(
    'look.test.mjs',
    `console.log(JSON.stringify([${JSON.stringify(Object.keys(CHOSEN))}.filter((name) => name in process.env), process.umask()]))`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--require', './test/support/preload.ts', '--test', file];
  const runner = ['-c', 'umask 077; exec "$0" "$@"', process.execPath, ...args];
  const { stdout } = spawnSync('sh', runner, { env: { ...env, ...CHOSEN }, encoding: 'utf8' });
  assert.match(stdout, /^\[\[],18\]$/m);
});

test('tests run in the environment of another test too, in which Node.js would pass over them', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('look.test.mjs', `console.log('it ran')`);
  const env = { ...process.env, NODE_TEST_CONTEXT: 'child-v8' };
  const { stdout } = spawnSync('tools/runtime/node', ['--test', file], { env, encoding: 'utf8' });
  assert.match(stdout, /^it ran$/m);
});

test('what is for the tests stays, and npm alone keeps the proxy by which it has the registry', () => {
  const given = { PATH: '/bin', CHROMIUM_PATH: '/x', LONG: '1', POSTGRES_PROGRAMS: '/y', NODE_OPTIONS: '' };
  const always = { LC_ALL: 'C.UTF-8', TZ: 'UTC' };
  assert.deepEqual(plain({ ...given, ...CHOSEN, NO_PROXY: 'there.test' }), {
    ...given,
    ...always,
    npm_config_https_proxy: 'http://127.0.0.1:9',
    npm_config_noproxy: 'there.test,127.0.0.1,localhost',
  });
  assert.deepEqual(plain({ ...given, http_proxy: 'http://127.0.0.1:9' }), { ...given, ...always });
});

test('one file has the flags that every run of tests needs: what they require, and who tells of what is skipped', () => {
  const files = globSync(['package.json', '.ci/run', 'tools/*', '{bench,site,test}/**/*.ts'], {
    exclude: ['**/node_modules', '**/made'],
  }).filter((path) => statSync(path).isFile());
  const runs = files.filter((path) =>
    /preload\.ts[\s\S]{1,80}support\/report\.ts/.test(readFileSync(path, 'utf8')),
  );
  assert.deepEqual(runs, ['tools/test']);
  assert.match(
    readFileSync('tools/test', 'utf8'),
    /node --require \.\/test\/support\/preload\.ts --test-reporter=\.\/test\/support\/report\.ts --test "\$@"\n$/,
  );
});
