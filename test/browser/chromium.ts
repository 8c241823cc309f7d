import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

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
export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), headless: true, args: QUIET });
}

function findChromium(): string {
  const { CHROMIUM_PATH: chosen, PATH: path = '' } = process.env;
  if (chosen) return chosen;
  const candidates = path.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(`Cannot find Chromium: install one of ${NAMES.join(', ')}, or name it in CHROMIUM_PATH`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
