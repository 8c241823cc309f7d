import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkRule } from '../../site/links.ts';
import {
  createMarkdownRenderer,
  disposeMdItInstance,
} from '../../site/node_modules/vitepress/dist/node/index.js';

/** What a text is on the site, as the page `docs/limits.md`, and what is reported. */
async function render(
  text: string,
  files?: string,
): Promise<{ readonly html: string; readonly faults: string[] }> {
  const faults: string[] = [];
  // VitePress keeps the renderer that it has made.
  disposeMdItInstance();
  const rule = linkRule(files, (line) => faults.push(line));
  const renderer = await createMarkdownRenderer('.', { config: (markdown) => void markdown.use(rule) });
  const html = renderer.renderInline(text, {
    path: 'docs/limits.md',
    relativePath: 'docs/limits.md',
    cleanUrls: false,
  });
  return { html, faults };
}

test('a link to a page leads to it on the site, also to a README.md and to a section', async () => {
  const { html, faults } = await render(
    '[a](contract.md#b5), [b](../README.md), [c](README.md), [d](#memory)',
  );
  const targets = Array.from(html.matchAll(/href="([^"]+)"/g), ([, target]) => target);
  assert.deepEqual(targets, ['/docs/contract.html#b5', '/', '/docs/', '#memory']);
  assert.deepEqual(faults, []);
});

test('a link to a file that is no page leads to the repository, and is plain text while nobody knows it', async () => {
  const text = 'The license is [MIT](../LICENSE), see [`nginx.conf`](../deploy/proxies/nginx.conf).';
  const known = await render(text, 'https://example.com/todo/blob/v1.2.3');
  assert.match(known.html, /<a href="https:\/\/example\.com\/todo\/blob\/v1\.2\.3\/LICENSE"[^>]*>MIT<\/a>/);
  const unknown = await render(text);
  assert.equal(unknown.html, 'The license is MIT, see <code>nginx.conf</code>.');
  assert.deepEqual([...known.faults, ...unknown.faults], []);
});

test('a link to another site stays as it is', async () => {
  const { html } = await render('[a](https://www.rfc-editor.org/rfc/rfc9457)');
  assert.match(html, /href="https:\/\/www\.rfc-editor\.org\/rfc\/rfc9457"/);
});

for (const [text, fault] of [
  ['[a](missing.md)', 'missing.md, which is not there'],
  ['[a](../LICENCE)', '../LICENCE, which is not there'],
  ['[a](contract.md#z99)', 'contract.md#z99, which has no such section'],
  ['[a](#nowhere)', '#nowhere, which has no such section'],
  ['![a](pictures/missing.png)', 'pictures/missing.png, which is not there'],
  ['<img src="pictures/missing.png">', 'pictures/missing.png, which is not there'],
  ['<source srcset="pictures/missing.svg">', 'pictures/missing.svg, which is not there'],
] as const) {
  test(`${text} is reported`, async () => {
    assert.deepEqual((await render(text)).faults, [`docs/limits.md leads to ${fault}`]);
  });
}

test('the anchor of a clause links to itself', async () => {
  const { html } = await render('<a id="b5"></a>**B5**');
  assert.equal(html, '<a id="b5" class="clause" href="#b5" aria-label="Link to b5"></a><strong>B5</strong>');
});
