import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What is loaded when both profiles are composed: files of packages by path, parts of Node.js by name. */
const PROGRAM = `
  import { createRequire } from 'node:module';
  import { pino } from 'pino';
  import { composeApp } from './src/app.ts';
  const log = pino({ level: 'silent' });
  const authenticate = () => ({ outcome: 'anonymous' });
  for (const profile of [{ name: 'error-demo' }, { name: 'shared-list', store: {}, authenticate }]) {
    const app = await composeApp({ environment: 'production', log, profile });
    await app.ready();
  }
  const loaded = [...Object.keys(createRequire(import.meta.url).cache), ...process.moduleLoadList];
  console.log(JSON.stringify(loaded));`;

test('an application in production loads no validator, no compiler of Fastify and no undici', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const loaded: string[] = JSON.parse(await text(child.stdout));
  assert.ok(loaded.some((name) => name.endsWith('/fastify/fastify.js')));
  const heavy = /\/(ajv|ajv-compiler|fast-json-stringify-compiler)\/|undici\/undici$/;
  assert.deepEqual(
    loaded.filter((name) => heavy.test(name)),
    [],
  );
});
