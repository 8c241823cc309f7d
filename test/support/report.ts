import { appendFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pipeline } from 'node:stream';
import type { EventData } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { endedChildrenSeconds } from './process-figures.ts';

/** LEFT_OUT is a file with a line for each thing that a run left out. TITLES=1 shows every title. */
const { LEFT_OUT: file, TITLES: titles } = process.env;

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

/** What is known of a test file. */
interface Told {
  tests: number;
  /** What it printed, and its diagnostics. */
  said: string;
}

/** One line for each file when it has ended; at the end what files printed, the failures and the sums. */
async function* quiet(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, Told>();
  const failures: string[] = [];
  const sums: string[] = [];
  const of = ({ entryFile, file = '' }: EventData.LocationInfo): Told => {
    const name = relative('', entryFile ?? file);
    const told = files.get(name) ?? { tests: 0, said: '' };
    files.set(name, told);
    return told;
  };
  let childrenSeconds = 0;
  for await (const { type, data } of events) {
    switch (type) {
      case 'test:stdout':
      case 'test:stderr':
        of(data).said += data.message;
        break;
      case 'test:complete':
        if (isFile(data)) {
          const { tests } = of(data);
          const before = childrenSeconds;
          childrenSeconds = endedChildrenSeconds();
          const [mark, wall] = [data.details.passed ? '✔' : '✖', data.details.duration_ms / 1_000];
          const used = (childrenSeconds - before).toFixed(1);
          yield `${mark} ${data.name}: ${tests} tests, ${wall.toFixed(1)} s, ${used} s of processor time\n`;
        } else if (data.details.type !== 'suite') of(data).tests += 1;
        break;
      case 'test:fail':
        if (Object(data.details.error).failureType !== 'subtestsFailed') failures.push(failureOf(data));
        break;
      case 'test:diagnostic':
        if (data.file === undefined) sums.push(`ℹ ${data.message}\n`);
        else of(data).said += `${data.message}\n`;
        break;
      case 'test:interrupted':
        sums.push(...data.tests.map(({ name }) => `Interrupted: ${name}\n`));
        // Nothing comes behind it.
        yield* end();
    }
  }
  yield* end();

  function end(): readonly string[] {
    const printed = [...files].filter(([, { said }]) => said !== '');
    return [...printed.map(([name, { said }]) => `\n${name} printed:\n${said}`), ...failures, '\n', ...sums];
  }
}

/** Whether that is the end of a file, not of a test. */
function isFile({ name, file, entryFile }: EventData.TestComplete): boolean {
  return entryFile === undefined && file === resolve(name);
}

function failureOf({
  name,
  file = '',
  entryFile = file,
  line,
  details: { error },
}: EventData.TestFail): string {
  const where = `${relative('', file)}:${line}${entryFile === file ? '' : ` (${relative('', entryFile)})`}`;
  const { exitCode, signal } = Object(error);
  const end = exitCode ?? signal;
  const what = end === undefined ? inspect(error.cause ?? error) : `The process ended with ${end}`;
  return `\n✖ ${name}\n${where}\n${what}\n`;
}

/** Titles alone come from the reporter of Node.js. `.ci/run` learns of the tests that were skipped for want of something. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // An error of the stream is thrown by the loop, too.
  yield* pipeline(events, noteSkips, titles === undefined ? quiet : new spec(), () => {});
}
