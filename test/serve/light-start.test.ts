import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

const SERVICE = `
  import { createRequire } from 'node:module';
  import { setTimeout as pause } from 'node:timers/promises';
  import './src/commands/serve.ts';
  import { openListeners } from './src/http/transport/listeners.ts';
  import { openPipeline } from './src/pipeline.ts';
  import { sharedListRoutes } from './src/shared-list/routes.ts';
  const tell = () => {};
  const listeners = openListeners();
  const loaded = () => [...Object.keys(createRequire(import.meta.url).cache), ...process.moduleLoadList];
  const routes = sharedListRoutes({}, tell);
  const receive = openPipeline({ routes, admit: () => undefined, tell, listeners });`;

/** What a program prints as JSON at its end. */
async function outputOf(program: string): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SERVICE + program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}

test('a service in production loads neither the validator nor undici', async () => {
  const loaded = await outputOf('console.log(JSON.stringify(loaded()))');
  assert.ok(Array.isArray(loaded));
  assert.ok(loaded.some((name) => name.endsWith('/pino/pino.js')));
  const heavy = /\/ajv\/|undici\/undici$/;
  assert.deepEqual(
    loaded.filter((name) => heavy.test(name)),
    [],
  );
});

test('the validator is there soon after, without a body that asks for it', async () => {
  const validator = await outputOf(`
    await listeners.listen(receive, { host: '127.0.0.1', port: 0 });
    const find = () => loaded().find((name) => name.endsWith('/ajv/dist/2020.js'));
    for (let tries = 0; find() === undefined && tries < 2_400; tries += 1) await pause(50);
    await listeners.drain(0);
    console.log(JSON.stringify(find() ?? null));`);
  assert.match(String(validator), /2020\.js$/);
});

test('the version and the list of commands load nothing of the service', async () => {
  const listing = `import { registerHooks } from 'node:module';
    const own = [];
    registerHooks({ load(url, context, next) { if (url.includes('/src/')) own.push(url); return next(url, context); } });
    process.on('exit', () => process.stderr.write(own.join(' ')));`;
  for (const word of ['--version', '--help']) {
    const words = ['--import', `data:text/javascript,${encodeURIComponent(listing)}`, 'src/start.js', word];
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    const names = (await text(child.stderr)).split(' ').map((url) => url.split('/src/').at(-1));
    assert.deepEqual(names.sort(), ['assets.ts', 'commands/print.ts', 'main.ts', 'nearest.ts', 'start.js']);
  }
});
