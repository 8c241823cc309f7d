import { appendFileSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';

/** A file of one line for each thing that a run left out. */
const { LEFT_OUT: file } = process.env;

/** @param skip Without a reason, the test is not meant for what is tested here. */
function note(name: string, skip: string | boolean | undefined): void {
  if (file === undefined || typeof skip !== 'string' || skip === '') return;
  appendFileSync(file, `skipped: ${name}: ${skip}\n`);
}

async function* noteSkips(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of events) {
    if (event.type === 'test:pass') note(event.data.name, event.data.skip);
    yield event;
  }
}

/** The reporter of Node.js; `.ci/run` learns of the tests that were skipped for want of something. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // An error of the stream is thrown by the loop, too.
  yield* pipeline(events, noteSkips, new spec(), () => {});
}
