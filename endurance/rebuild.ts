// How long a rebuild of a long list keeps the event loop from its other work: node endurance/rebuild.ts --help
import { setTimeout as pause } from 'node:timers/promises';
import { scriptFlags } from '../test/script-flags.ts';
import { startLongList } from './long-list.ts';

const HELP = `Usage: node endurance/rebuild.ts [flags]

One client asks for the list again and again while todos are replaced, so that it is built anew for each change.
Prints, of the service and of a process beside it that does nothing, the gaps between two turns of the event loop
and how long the main thread was on a processor in them, in milliseconds. What the idle process shows too is the
machine's doing: other programs, and quotas of a container. Fails when the thread was ever busy for 20 ms.

  --todos N     default 100000
  --seconds S   default 20
  --writes N    a second, default 10
  --known       reads every todo first, so that all are in the cache and the heap is large
  --gzip        asks for the list in gzip
  --help
`;

const flags = scriptFlags(HELP, { todos: 100_000, seconds: 20, writes: 10 }, ['known', 'gzip']);

const READERS = 32;
const LIMIT = 20;

const { todos } = flags;
await using list = await startLongList(todos, flags.gzip ? { 'accept-encoding': 'gzip' } : {});
if (flags.known) await readEach();
// What happens once in a process, at its first write, is no part of a rebuild.
await list.ask('PUT', '/todos/1', { title: 'The first', categoryId: 1 });
await list.ask('GET', '/todos');
await pause(1_000);
list.begin();
const until = performance.now() + flags.seconds * 1_000;
const [lists, writes] = await Promise.all([readLists(), list.write(flags.writes, until)]);
const { service, idle } = await list.end();
console.log(JSON.stringify({ todos, known: flags.known, gzip: flags.gzip, lists, writes }));
console.log(`service ${JSON.stringify(service)}`);
console.log(`idle    ${JSON.stringify(idle)}`);
process.exitCode = service.busiest < LIMIT ? 0 : 1;

async function readLists(): Promise<number> {
  let read = 0;
  for (; performance.now() < until; read += 1) await list.ask('GET', '/todos');
  return read;
}

async function readEach(): Promise<void> {
  let id = 0;
  const reader = async (): Promise<void> => {
    while (id < todos) {
      id += 1;
      await list.ask('GET', `/todos/${id}`);
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
}
