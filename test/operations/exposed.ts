import { type MetricsParts, openMetrics } from '../../src/observe/metrics.ts';
import { startList } from './list.ts';
import { parseExposition } from './prometheus.ts';
import { converse } from './raw.ts';

/** A service on PostgreSQL. */
export const OF_POOL: MetricsParts = {
  build: { version: '0', commit: 'c0ffee', profile: 'shared-list', schemaVersion: 3 },
  databaseSystem: 'postgresql',
  listeners: [],
  output: { dropped: 0 },
  ready: async () => true,
};

export const STORE = {
  connections: () => ({ used: 1, idle: 0, waiting: 0 }),
  sizes: { database: [{ bytes: 1 }], list: 0 },
};

/** Those that Prometheus adds to each sample, and the metric that it adds for each target. */
const OF_PROMETHEUS = ['job', 'instance'];
const UP = ['up', new Set(OF_PROMETHEUS)] as const;

/** Every metric that the service exposes, on SQLite and on PostgreSQL, and its labels as Prometheus stores them. */
export async function exposedMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const known = new Map<string, Set<string>>([[UP[0], new Set(UP[1])]]);
  for (const text of [await textOfList(), await textOfPool()]) {
    for (const { name, labels } of parseExposition(text).samples) {
      const all = known.get(name) ?? new Set(OF_PROMETHEUS);
      for (const label of Object.keys(labels)) all.add(label);
      known.set(name, all);
    }
  }
  return known;
}

/** Of a service that has read, written and refused. */
async function textOfList(): Promise<string> {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
  const headers = { authorization: `Bearer ${list.editor}`, 'content-type': 'application/json' };
  await fetch(`${list.url}/todos`, { headers });
  await fetch(`${list.url}/todos`, { method: 'POST', headers, body: '{"title":"a","categoryId":1}' });
  await converse(list.url, 'not http\r\n\r\n');
  return (await fetch(`${list.adminUrl}/metrics`)).text();
}

async function textOfPool(): Promise<string> {
  using metrics = openMetrics(OF_POOL);
  metrics.watchStore(STORE);
  metrics.keysTaken('read');
  return (await metrics.read()).text;
}
