import { main } from '../../src/main.ts';

// The entry of the single executable. `src/start.js` looks at the version of Node.js, which here is inside.
void main(process.argv.slice(2));
