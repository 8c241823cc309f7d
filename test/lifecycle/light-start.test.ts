import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where the modules of the service are; the checkout may be anywhere. */
const SOURCE = JSON.stringify(new URL('../../src/', import.meta.url).href);

const SERVICE = `
  import { createRequire } from 'node:module';
  import './src/commands/serve.ts';
  import { openListener } from './src/wire/listener.ts';
  import { faultAnswers } from './src/http/fault-answers.ts';
  import { openPipeline } from './src/http/pipeline.ts';
  import { sharedListRoutes } from './src/shared-list/endpoints.ts';
  const logEvent = () => {};
  const limits = { maxConnections: 1, keepAliveTimeout: 1_000 };
  const listener = openListener({ name: 'public', logEvent, limits, answers: faultAnswers() });
  const loaded = () => [...Object.keys(createRequire(import.meta.url).cache), ...process.moduleLoadList];
  const routes = sharedListRoutes({}, logEvent);
  const receive = openPipeline({ routes, admit: () => undefined, logEvent, listener });`;

/** What a program prints as JSON at its end. */
async function outputOf(program: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SERVICE + program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}

test('a service in production does not load undici', async () => {
  const loaded = await outputOf('console.log(JSON.stringify(loaded()))');
  assert.ok(Array.isArray(loaded));
  assert.ok(loaded.some((name) => name.endsWith('/pino/pino.js')));
  assert.deepEqual(
    loaded.filter((name) => name.endsWith('undici/undici')),
    [],
  );
});

test('the version and the list of commands load nothing of the service', async () => {
  const listing = `import { registerHooks } from 'node:module';
    const own = [];
    registerHooks({ load(url, context, next) { if (url.startsWith(${SOURCE})) own.push(url.slice(${SOURCE}.length)); return next(url, context); } });
    process.on('exit', () => process.stderr.write(own.join(' ')));`;
  for (const word of ['--version', '--help']) {
    const words = ['--import', `data:text/javascript,${encodeURIComponent(listing)}`, 'src/start.js', word];
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    const names = (await text(child.stderr)).split(' ');
    assert.deepEqual(names.sort(), [
      'commands/print.ts',
      'lib/assets.ts',
      'lib/nearest.ts',
      'lib/operator-error.ts',
      'lib/quote.ts',
      'main.ts',
      'start.js',
    ]);
  }
});
