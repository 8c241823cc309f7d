// What memory many slow readers of a long list take: node endurance/slow-readers.ts --help
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { scriptFlags } from '../test/script-flags.ts';
import { startLongList } from './long-list.ts';

const HELP = `Usage: node endurance/slow-readers.ts [flags]

Readers ask for the list, one after the other, and read it slowly, while todos are replaced: each gets another version.
Prints what the process and its buffers took at most, in megabytes.

  --todos N     default 100000
  --readers N   default 50
  --rate N      kilobytes a second that each reads, default 300
  --writes N    a second, default 10
  --seconds S   default 30
  --gzip        asks for the list in gzip
  --help
`;

const flags = scriptFlags(HELP, { todos: 100_000, readers: 50, rate: 300, writes: 10, seconds: 30 }, [
  'gzip',
]);

/** Milliseconds between two sips. */
const SIP_INTERVAL_MS = 100;

await using list = await startLongList(flags.todos, flags.gzip ? { 'accept-encoding': 'gzip' } : {});
for (const _ of [1, 2, 3]) await list.ask('GET', '/todos');
await pause(1_000);
list.begin();
const until = performance.now() + flags.seconds * 1_000;
const readers = Array.from({ length: flags.readers }, (_, index) => readSlowly(index * 97));
const [writes, ...bytes] = await Promise.all([list.write(flags.writes, until), ...readers]);
const { service } = await list.end();
const read = bytes.reduce((sum, each) => sum + each, 0);
console.log(JSON.stringify({ ...flags, writes, megabytesRead: Math.round(read / 2 ** 20) }));
console.log(JSON.stringify(service));

/** Asks for the list again and again; the bytes that it read. */
async function readSlowly(delay: number): Promise<number> {
  await pause(delay);
  let total = 0;
  while (performance.now() < until) {
    const answer = await list.open('/todos');
    while (!answer.readableEnded && performance.now() < until) {
      total += sip(answer);
      await pause(SIP_INTERVAL_MS);
    }
    answer.destroy();
  }
  return total;
}

/** Reads what it may in this moment; the bytes. */
function sip(answer: IncomingMessage): number {
  const wanted = (flags.rate * 1_024 * SIP_INTERVAL_MS) / 1_000;
  let read = 0;
  while (read < wanted && answer.readableLength > 0) {
    const part: Buffer | null = answer.read(Math.min(wanted - read, answer.readableLength));
    read += part?.length ?? 0;
  }
  // Nothing is there yet, or nothing any more.
  if (read === 0) answer.read(0);
  return read;
}
