import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { signer } from '../../packages/conformance/src/sign.ts';
import { page as readPage } from '../commands/recipes.ts';
import { type Running, startService } from '../support/start.ts';
import { openWatched, startChromium } from './browser.ts';

const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
const token = signer(auth)({ name: 'Ada', role: 'editor' });

/** Title in the sidebar, method and path of each operation. */
const operations = {
  'shared-list': [
    ['List all todos', 'get /todos'],
    ['Create a todo', 'post /todos'],
    ['Read a todo', 'get /todos/{id}'],
    ['Replace a todo', 'put /todos/{id}'],
    ['Delete a todo', 'delete /todos/{id}'],
    ['Who am I?', 'get /me'],
  ],
  'error-demo': [
    ['Read a todo', 'get /todos/{id}'],
    ['Complete a todo', 'post /todos/{id}/complete'],
    ['Fail on purpose', 'get /crash'],
  ],
} as const;

/** Sent from the page as it fills them in, one after the other: title, method and path, URL, what the page says. */
const requests = {
  'shared-list': [
    ['List all todos', 'get /todos', '/todos', '200 OK'],
    ['Create a todo', 'post /todos', '/todos', '201 Created'],
    ['Replace a todo', 'put /todos/{id}', '/todos/1', '204 No Content'],
  ],
  'error-demo': [
    ['Read a todo', 'get /todos/{id}', '/todos/1', '200 OK'],
    ['Complete a todo', 'post /todos/{id}/complete', '/todos/1/complete', '200 OK'],
  ],
} as const;

/** Operations whose forms have all that a form can have. */
const forms = { 'shared-list': ['put /todos/{id}', 'get /todos/{id}'], 'error-demo': ['get /todos/{id}'] };

/** What Scalar leaves in the form of a request: the rules of axe-core, and the elements. */
const SCALARS: readonly (readonly [rules: readonly string[], element: string])[] = [
  [['aria-required-attr'], '<div [^>]*code-input-lite__editor'],
  [['aria-input-field-name'], '<div [^>]*cm-content'],
  [
    ['aria-allowed-role', 'aria-prohibited-attr', 'presentation-role-conflict'],
    '<button aria-label="More Information"',
  ],
  [['landmark-no-duplicate-main', 'landmark-unique'], '<(main|section) '],
];
const KNOWN = SCALARS.flatMap(([rules, element]) => rules.map((rule) => new RegExp(`^${rule}: ${element}`)));

test('decision 7 names what Scalar leaves, and nothing else', async () => {
  const [, rows = ''] =
    /^## What axe-core finds$(.*?)(?=^## |$(?![\s\S]))/ms.exec(
      await readPage('decisions/0007-reference-page.md'),
    ) ?? [];
  const named = [...rows.matchAll(/^- (.*?):/gm)].flatMap(([, rules = '']) => rules.match(/[a-z-]+/g));
  assert.deepEqual(
    named,
    SCALARS.flatMap(([rules]) => rules),
  );
});

let browser: Browser;
before(async () => {
  browser = await startChromium();
});
after(() => browser.close());

for (const profile of ['shared-list', 'error-demo'] as const) {
  describe(`The reference page of ${profile}`, () => {
    let service: Running;
    let url = '';
    before(async () => {
      const options = profile === 'shared-list' ? { auth } : {};
      service = await startService({ profile, environment: 'development', ...options });
      url = `${service.baseUrl}/scalar`;
    });
    after(() => service[Symbol.asyncDispose]());

    test('shows every operation [D3]', async () => {
      await using watched = await openWatched(browser, url);
      const { page } = watched;
      for (const [title, call] of operations[profile]) {
        await goTo(page, title);
        await testButton(page, call).waitFor();
      }
      const shown = await page.getByRole('button', { name: /^Test Request/ }).count();
      assert.equal(shown, operations[profile].length);
    });

    test('requests sent from the page succeed, and nothing goes elsewhere or wrong [D3]', async () => {
      await using watched = await openWatched(browser, url);
      const { page, requested, complaints } = watched;
      if (profile === 'shared-list') await paste(page, 'Bearer Token', token);
      for (const [title, call, path, outcome] of requests[profile]) {
        await goTo(page, title);
        await testButton(page, call).click();
        await page.getByRole('button', { name: /^Send \w+ request/ }).click();
        await page.getByRole('link', { name: outcome }).waitFor();
        assert.ok(requested.includes(service.baseUrl + path), `${path} was not requested`);
        await page.getByRole('button', { name: 'Close Client' }).last().click();
      }
      await page.waitForLoadState('networkidle');
      assert.deepEqual(
        requested.filter((one) => !one.startsWith(`${service.baseUrl}/`)),
        [],
      );
      assert.deepEqual(complaints, []);
    });

    for (const colorScheme of ['light', 'dark'] as const) {
      test(`axe-core finds nothing in ${colorScheme} mode, and in the open form what the page of limits names [D3]`, async () => {
        await using watched = await openWatched(browser, url);
        const { page } = watched;
        await page.emulateMedia({ colorScheme });
        await page.reload();
        await page.locator(`body.${colorScheme}-mode`).waitFor();
        await page.evaluate(AT_REST);
        for (const [title, call] of operations[profile]) {
          await goTo(page, title);
          await testButton(page, call).waitFor();
        }
        // The policy of the page refuses a script tag.
        await page.evaluate(axe.source);
        assert.deepEqual(await violationsOf(page), []);
        for (const call of forms[profile]) {
          await testButton(page, call).click();
          await page.getByRole('button', { name: /^Send \w+ request/ }).waitFor();
          const others = (await violationsOf(page)).filter((one) => !KNOWN.some((known) => known.test(one)));
          assert.deepEqual(others, []);
          await page.getByRole('button', { name: 'Close Client' }).last().click();
        }
      });
    }

    test('the policy of the page bars a request to elsewhere, and the browser says so [D3]', async () => {
      await using watched = await openWatched(browser, url);
      const { page } = watched;
      const complaint = page.waitForEvent('console', (message) =>
        message.text().includes('elsewhere.example'),
      );
      const outcome = await page.evaluate(
        "fetch('https://elsewhere.example/').then(() => 'sent', () => 'barred')",
      );
      assert.equal(outcome, 'barred');
      assert.match((await complaint).text(), /Content Security Policy/);
    });
  });
}

/** The page makes an operation when somebody comes near it. */
async function goTo(page: Page, title: string): Promise<void> {
  await page.getByRole('link', { name: `${title} HTTP Method:` }).click();
  await page.getByRole('heading', { name: title, exact: true }).waitFor();
}

/** The button that opens the form for a request, for example `get /todos/{id}`. */
function testButton(page: Page, call: string): Locator {
  return page.getByRole('button', { name: `Test Request (${call})`, exact: true });
}

/** Puts text into a field at once, as a paste does. */
async function paste(page: Page, field: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: field }).first().focus();
  await page.keyboard.insertText(text);
}

/** What fades in has its colours at once: half faded, no colour has enough contrast. */
const AT_REST = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { animation-duration: 0s !important; transition-duration: 0s !important }');
  document.adoptedStyleSheets.push(sheet);
}`;

/** What axe-core finds on the page: of each element its rule and its HTML, shortened. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  const { violations }: AxeResults = await page.evaluate(
    'axe.run({ preload: false, resultTypes: ["violations"] })',
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
