import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startDemo } from '../support/demo.ts';
import { temporaryFolder } from '../support/folder.ts';
import { noNginx, startNginxWithPage } from '../support/proxies.ts';
import { openWatched, startChromium } from './browser.ts';

const browser = await startChromium();
after(() => browser.close());

/** The page of an application, as a bundler makes it. */
const FILES = {
  'index.html': `<!doctype html><title>loading</title><link rel="manifest" href="/app.webmanifest">
    <link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/app.css">
    <script type="module" src="/app.js"></script><img src="/icon.svg">`,
  'app.js': `import { title } from './todos.mjs';
    const todo = await (await fetch('/api/todos/1')).json();
    document.title = title(todo);`,
  'todos.mjs': 'export const title = (todo) => todo.title;',
  'app.css': 'p { color: red }',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"></svg>',
  'app.webmanifest': '{ "name": "Todos" }',
};

const TYPES = {
  '/index.html': 'text/html',
  '/app.css': 'text/css',
  '/icon.svg': 'image/svg+xml',
  '/todos.mjs': 'text/javascript',
  '/app.webmanifest': 'application/manifest+json',
};

for (const example of ['nginx.conf', 'nginx-several.conf']) {
  test(`a page of ${example} runs its modules, shows its picture and reads the service`, {
    skip: noNginx(),
  }, async () => {
    await using folder = await temporaryFolder();
    // Files are read by another user.
    await chmod(folder.path, 0o755);
    for (const [name, content] of Object.entries(FILES)) {
      await folder.write(name, content);
      await chmod(join(folder.path, name), 0o644);
    }
    await using demo = await startDemo();
    await using proxy = await startNginxWithPage(example, folder.path)(Number(new URL(demo.url).port));
    await using watched = await openWatched(browser, `${proxy.url}/some/route`);
    await watched.page.waitForFunction('document.title !== "loading"');
    const { title } = (await (await fetch(`${demo.url}/todos/1`)).json()) as { readonly title: string };
    assert.equal(await watched.page.title(), title);
    assert.equal(await watched.page.evaluate('document.images[0].naturalWidth'), 7);
    assert.deepEqual(watched.complaints, []);
    for (const [path, type] of Object.entries(TYPES))
      assert.equal((await fetch(proxy.url + path)).headers.get('content-type'), type, path);
  });
}
