import { type Browser, chromium, type Page } from 'playwright-core';
import { outputOf } from '../../tools/command.ts';

/** Milliseconds. Longer than a slow machine takes for anything; reached only when something is missing. */
const PATIENCE_MS = 60_000;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** What keeps the browser from talking to its maker, and lets it run as root and in a container. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts the Chromium that `CHROMIUM_PATH` names, or the one of the system, without a window.
 *
 * @throws Error when there is none.
 */
export async function startChromium(): Promise<Browser> {
  const ofSystem = () => outputOf('sh', '-c', NAMES.map((name) => `command -v ${name}`).join(' || '));
  const executablePath = process.env.CHROMIUM_PATH || ofSystem();
  if (executablePath === undefined)
    throw new Error(`Cannot find Chromium: install one of ${NAMES.join(', ')}, or name it in CHROMIUM_PATH`);
  return await chromium.launch({ executablePath, headless: true, args: QUIET, timeout: PATIENCE_MS });
}

/** A page of the browser, and all that it did. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** URLs of every request, in order, those that failed included. */
  readonly requested: readonly string[];
  /** What the console has as a warning or an error: scripts, failed loads, violations of the page's policy. */
  readonly complaints: readonly string[];
}

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
