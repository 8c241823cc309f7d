// A process whose files may not grow beyond a limit: it asks for more than fits, and says what came of it.
import { join } from 'node:path';
import { openSqliteStore } from './sqlite-store.ts';
import { addedTo, listed, newTodo } from './todos.ts';

const [folder = ''] = process.argv.slice(2);
await using store = await openSqliteStore(join(folder, 'todos.db'), { cacheBytes: 0 });
const titles = async () => (await listed(store)).map(({ title }) => title);

await addedTo(store, 'a');
const before = await titles();
const title = '\u{10FFFF}'.repeat(100);
const writes = Array.from({ length: 20_000 }, () => store.add(newTodo(title, 1)));
const refused: Record<string, number> = {};
for (const { reason } of (await Promise.allSettled(writes)).filter((each) => each.status === 'rejected')) {
  refused[reason.name] = (refused[reason.name] ?? 0) + 1;
}
const during = await titles();
await addedTo(store, 'b');
console.log(JSON.stringify({ before, refused, during, after: await titles() }));
