import { describe } from 'node:test';
import { endOf, holds } from './holds.ts';

describe('writing the log', () => {
  holds(
    'sonic-boom blocks the process in flushSync while nobody reads its pipe, told to try three times or not',
    () =>
      endOf(`
        import SonicBoom from 'sonic-boom';
        const output = new SonicBoom({ fd: 1, sync: false, maxWriteRetries: 3 });
        for (let line = 0; line < 100; line += 1) output.write('x'.repeat(10_000) + '\\n');
        try { output.flushSync(); } catch {}
        process.exit(0);`),
    'SIGKILL',
  );
});
