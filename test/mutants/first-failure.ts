import { writeSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

/** What is said on standard output when a test begins. Nothing of it: the file could not be loaded. */
export const BEGAN = 'began';

/** Before the name of the test that failed, on standard output. */
export const FAILED = 'failed: ';

/** Ends the process at the first test that fails: one notices a mutant as well as all of them. */
// biome-ignore lint/correctness/useYield: a reporter is a generator, and this one says nothing.
export default async function* firstFailure(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:dequeue') writeSync(1, `${BEGAN}\n`);
    if (type !== 'test:fail') continue;
    writeSync(1, `${FAILED}${data.name}\n`);
    process.exit(1);
  }
}
