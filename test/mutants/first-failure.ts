import type { TestEvent } from 'node:test/reporters';

/** Ends the process at the first test that fails: one notices a change as well as all of them. */
// biome-ignore lint/correctness/useYield: a reporter is a generator, and this one says nothing.
export default async function* firstFailure(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type } of events) if (type === 'test:fail') process.exit(1);
}
