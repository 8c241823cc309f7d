/**
 * Makes `npm-shrinkwrap.json`, which the npm package carries: who installs it gets the versions that were tested, and not
 * whatever fits.
 */
import { writeFileSync } from 'node:fs';
import { lockedFor } from './locked.ts';

writeFileSync(
  new URL('../npm-shrinkwrap.json', import.meta.url),
  `${JSON.stringify(lockedFor(), null, 2)}\n`,
);
