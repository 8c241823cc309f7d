import { openDevelopmentKey } from '../../src/auth/development.ts';

/** A process of its own that opens the development key and prints its kid. */
const { keyId } = await openDevelopmentKey(process.argv[2] ?? '');
process.stdout.write(keyId);
