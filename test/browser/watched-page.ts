import type { Browser, Page } from 'playwright-core';

/** A page of the browser, and all that it did. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** URLs of every request, in order, those that failed included. */
  readonly requested: readonly string[];
  /** What the console has as a warning or an error: scripts, failed loads, violations of the page's policy. */
  readonly complaints: readonly string[];
}

/** Milliseconds. Longer than a slow machine takes for anything; reached only when something is missing. */
const PATIENCE_MS = 60_000;

/** Opens `url` on a page of its own, without cookies or storage of another. */
export async function openWatched(browser: Browser, url: string): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const requested: string[] = [];
  const complaints: string[] = [];
  context.on('request', (request) => requested.push(request.url()));
  page.on('websocket', (socket) => requested.push(socket.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.goto(url);
  return { page, requested, complaints, [Symbol.asyncDispose]: () => context.close() };
}
