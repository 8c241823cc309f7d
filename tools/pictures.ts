/**
 * Makes the pictures of README.md: the overview, which a test compares, and the reference page as the service of this
 * checkout serves it, which nothing compares. Needs Chromium.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { openWatched, startChromium } from '../test/browser/browser.ts';
import { startService } from '../test/support/start.ts';
import { overviews } from './overview.ts';

const FOLDER = new URL('../docs/pictures/', import.meta.url);

/** The reference page, opened where somebody creates a todo. */
async function referencePage(): Promise<Buffer> {
  await using service = await startService({ environment: 'development', args: ['--port', '5080'] });
  const browser = await startChromium();
  try {
    await using watched = await openWatched(browser, `${service.baseUrl}/scalar`);
    const { page } = watched;
    await page.setViewportSize({ width: 1200, height: 720 });
    await page.getByRole('link', { name: 'Create a todo HTTP Method:' }).click();
    await page.getByRole('heading', { name: 'Create a todo', exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    return await page.screenshot({ animations: 'disabled' });
  } finally {
    await browser.close();
  }
}

if (import.meta.main) {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, svg] of overviews()) await writeFile(new URL(name, FOLDER), svg);
  await writeFile(new URL('reference-page.png', FOLDER), await referencePage());
}
