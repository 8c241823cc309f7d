/** Fetches what the tests of the Debian package lay out, before them: it fails where no mirror can be had. */
import { fetchSystem } from './system.ts';

await fetchSystem();
