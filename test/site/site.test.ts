/** The site that `npm run site` has built. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import manifest from '../../package.json' with { type: 'json' };
import { addressOf } from '../../site/pages.ts';
import { outputOf } from '../../tools/command.ts';
import { PAGES } from '../../tools/pages.ts';
import { openWatched, startChromium, type WatchedPage } from '../browser/browser.ts';
import { listen } from '../support/folder.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Serves files as GitHub Pages does, and nothing else. */
const server = createServer(({ url = '/' }, response) => {
  const { pathname } = new URL(url, 'http://site');
  const file = join('build/site', pathname.endsWith('/') ? `${pathname}index.html` : pathname);
  try {
    const body = readFileSync(file);
    response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
const origin = `http://127.0.0.1:${await listen(server)}`;
after(() => server.close());

let browser: Browser;
before(async () => {
  browser = await startChromium();
});
after(() => browser.close());

const ADDRESSES = PAGES.map((page) => addressOf(page).replace(/[^/]$/, '$&.html'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// A page at a time leaves half of two cores idle.
describe('A page', { concurrency: 3 }, () => {
  for (const address of ADDRESSES) {
    test(`${address} names its version, takes nothing from elsewhere, fits a narrow screen, and has no fault for axe-core, light and dark`, async () => {
      await using watched = await openWatched(browser, origin + address);
      const { page } = watched;
      assert.match((await page.locator('.VPNavBarTitle').textContent()) ?? '', new RegExp(manifest.version));
      await page.evaluate(axe);
      for (const [colorScheme, width] of [
        ['light', 1_280],
        ['dark', 320],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
        // Of the other results, which are many, none is described.
        const found: { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[] =
          await page.evaluate(
            "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
          );
        assert.deepEqual(
          found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
          [],
        );
      }
      assertOwn(watched);
    });
  }
});

/** Nothing was asked of another host, and the console has no complaint. */
function assertOwn({ requested, complaints }: WatchedPage): void {
  const elsewhere = requested.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'));
  assert.deepEqual([elsewhere, complaints], [[], []]);
}

test('a search finds a clause of the contract', async () => {
  await using watched = await openWatched(browser, `${origin}/`);
  const { page } = watched;
  await page.locator('.VPNavBarSearch button').first().click();
  await page.locator('#localsearch-input').fill('Idempotency-Key');
  const found = page.locator('#localsearch-list a[href*="/docs/contract.html"]').first();
  await found.click();
  await page.waitForURL('**/docs/contract.html*');
});

test('the side bar has the four kinds of docs/README.md, and leads to each of their pages', async () => {
  await using watched = await openWatched(browser, `${origin}/`);
  const headings = await watched.page.locator('.VPSidebar h2').allTextContents();
  assert.deepEqual(headings, ['Tutorial', 'How to', 'Reference', 'Explanation']);
  await watched.page.locator('.VPSidebar').getByRole('link', { name: 'Contract', exact: true }).click();
  await watched.page.waitForURL('**/docs/contract.html');
});

test('the architecture has its diagram', async () => {
  await using watched = await openWatched(browser, `${origin}/docs/architecture.html`);
  await watched.page.locator('.diagram svg').getByText('validate').first().waitFor();
});

for (const [profile, first] of [
  ['shared-list', 'List all todos'],
  ['error-demo', 'Read a todo'],
] as const) {
  test(`the reference page of ${profile} shows the interface, takes nothing from elsewhere, and sends nothing`, async () => {
    await using watched = await openWatched(browser, `${origin}/reference/${profile}.html`);
    await watched.page.getByRole('heading', { name: first }).first().waitFor();
    assert.equal(await watched.page.getByRole('button', { name: /test request/i }).count(), 0);
    assertOwn(watched);
  });
}

test('npm run site -- --help says what it does, and a flag that it does not know is wrong usage', () => {
  assert.match(outputOf('npm', 'run', '--silent', 'site', '--', '--help') ?? '', /^Usage: npm run site /);
});
