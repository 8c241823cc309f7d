import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { page, recipe, sh } from '../commands/recipes.ts';
import { noKustomize, type Objects, rendered } from '../documents/manifests.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { type Served, serve } from '../storage/served.ts';
import { listen, temporaryFolder } from '../support/folder.ts';
import { type Finished, runProgram } from '../support/start.ts';

const PAGE = await page('../deploy/kubernetes/README.md');
/** As in a terminal, where a line that fails does not end the lines below. */
const MOVE = `set +e\n${recipe(PAGE, 'Move')}`;
const [, BACK = ''] = /`(kubectl scale [^`]+)` goes on with it/.exec(PAGE) ?? [];
const SECRET = recipe(PAGE, 'On PostgreSQL', /create secret/).replace(/'postgres:[^']+'/, '"$OLD"');
const RESTORE = recipe(PAGE, 'On SQLite', /apply -k restore/);

/** Sends its words, and the manifest of standard input, to who plays the cluster. */
const kubectl = (port: number) => `case $* in
  *--filename=-) manifest=$(cat) ;;
esac
printf '%s\\n' "$@" '' "\${manifest-}" |
  curl --fail-with-body --silent --show-error --data-binary @- http://127.0.0.1:${port}/`;

const flagOf = (words: readonly string[], name: string) =>
  words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';

/** A cluster that is played by hand: pods are processes, and volumes folders. @param start Starts a pod of the Deployment, with the address that the secret has. */
async function layOutCluster(start: (url: string, data: string) => Promise<Served>) {
  const folder = await temporaryFolder();
  const at = (path: string) => join(folder.path, path);
  for (const path of ['data', 'move']) mkdirSync(at(path));
  const secrets = new Map<string, string>();
  const jobs = new Map<string, Promise<readonly Finished[]>>();
  /** All that were ever started: clients notice late that one has ended. */
  const pods: Served[] = [];
  let replicas = 0;
  let ending: Promise<unknown> = Promise.resolve();
  let hangs = false;

  /** Runs the containers of a pod, one after the other. */
  async function runPod({ initContainers = [], containers }: Objects[number]): Promise<readonly Finished[]> {
    const ended: Finished[] = [];
    for (const { args, env = [] } of [...initContainers, ...containers]) {
      if (ended.some(({ code }) => code !== 0)) break;
      const own = env.map(({ name, valueFrom }: Objects[number]) => [
        name,
        secrets.get(valueFrom.secretKeyRef.name),
      ]);
      const words = args.map((word: string) => word.replace(/^\/(?=data\/|move\/)/, `${folder.path}/`));
      ended.push(await runProgram(words, { env: { TODO_DATA_DIR: at('data'), ...Object.fromEntries(own) } }));
    }
    return ended;
  }

  async function scale(wanted: number): Promise<void> {
    if (wanted < replicas)
      ending = Promise.all(pods.slice(wanted - replicas).map((pod) => pod.stop('SIGTERM')));
    for (; replicas < wanted; replicas += 1)
      pods.push(await start(secrets.get('todo-service-database') ?? '', at('data')));
    replicas = wanted;
  }

  /** What a cluster does with the calls of the page, and what `kubectl` prints. */
  async function obey(words: readonly string[], manifest: string): Promise<string> {
    const [verb = '', ...rest] = words;
    const call = words.join(' ');
    const job = /\bjob[/ ](\S+)/.exec(call)?.[1] ?? '';
    if (verb === 'create') {
      const secret = { name: rest[2] ?? '', url: flagOf(words, 'from-literal').replace('url=', '') };
      if (call.includes(' --dry-run=client --output=yaml')) return JSON.stringify(secret);
      secrets.set(secret.name, secret.url);
    } else if (verb === 'delete') jobs.delete(job);
    else if (verb === 'scale') await scale(Number(flagOf(words, 'replicas')));
    else if (call.startsWith('wait --for=delete pod --selector=todo-service=serve ')) {
      if (hangs) throw new Error('timed out waiting for the condition');
      await ending;
    } else if (call === 'apply --filename=-') {
      const { name, url } = JSON.parse(manifest);
      secrets.set(name, url);
    } else if (verb === 'apply') {
      const [{ metadata, spec }] = rendered(rest[1] ?? '') as [Objects[number]];
      assert.equal(jobs.has(metadata.name), false, 'a Job that is there cannot be changed');
      jobs.set(metadata.name, runPod(await changed(spec.template.spec)));
    } else {
      const ended = (await jobs.get(job)) ?? assert.fail(call);
      if (verb === 'get') return ended.every(({ code }) => code === 0) ? '1' : '';
      if (verb === 'logs') return ended.map(({ stdout, stderr }) => stdout + stderr).join('');
      assert.ok(call.startsWith('wait --for=jsonpath='), call);
    }
    return '';
  }

  /** What the page says to change: the backup that is restored, the newest one here. */
  async function changed(pod: Objects[number]): Promise<Objects[number]> {
    const [{ args }] = pod.containers;
    if (args[0] === 'restore') args[1] = `/data/backups/${readdirSync(at('data/backups')).sort().at(-1)}`;
    return pod;
  }

  const control = createServer(async (request, response) => {
    const [words = '', manifest = ''] = (await text(request)).split('\n\n');
    const said = await obey(words.split('\n'), manifest.trim()).catch((error) => {
      response.writeHead(500);
      return `${error}\n`;
    });
    response.end(said);
  });
  const programs = { kubectl: kubectl(await listen(control)) };

  return {
    secrets,
    jobs,
    pods,
    at,
    scale,
    runPod,
    /** The next wait for the end of pods is in vain. */
    hang(): void {
      hangs = true;
    },
    /** Runs lines, and gives how they ended. */
    tried: (lines: string, env = {}) =>
      sh(folder.path, lines, { env: { no_proxy: '127.0.0.1', ...env }, programs }),
    async [Symbol.asyncDispose]() {
      await Promise.all(pods.map((pod) => pod.stop()));
      control.closeAllConnections();
      control.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Cluster = Awaited<ReturnType<typeof layOutCluster>>;

/** Runs lines that must succeed, and gives what they said. */
async function done(cluster: Cluster, lines: string, env = {}): Promise<string> {
  const { code, stdout, stderr } = await cluster.tried(lines, env);
  assert.equal(code, 0, `${lines}\n${stdout}${stderr}`);
  return stdout;
}

/** Clients that create beside `work`, at any pod: the titles that were acknowledged. */
async function createdDuring({ pods }: Cluster, work: () => Promise<unknown>): Promise<readonly string[]> {
  const created: string[] = [];
  const over = new AbortController();
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let number = 0; !over.signal.aborted; number += 1) {
      const title = `${client}-${number}`;
      const asked = pods[number % pods.length]?.ask('POST', '/todos', { title, categoryId: 1 });
      const reply = await asked?.catch(() => undefined);
      if (reply?.status === 201) created.push(title);
      else await sleep(10);
      await reply?.arrayBuffer();
    }
  });
  const some = async () => {
    for (const before = created.length; created.length < before + 100; ) await sleep(10);
  };
  await some();
  try {
    await work();
    await some();
  } finally {
    over.abort();
    await Promise.all(clients);
  }
  return created;
}

describe('Two instances in a cluster', { skip: noKustomize, concurrency: false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  // Endpoints forget a pod later than it is told to end.
  const options = { args: ['--no-migrate'], env: { TODO_SHUTDOWN_DELAY_SECONDS: '1' } };
  const layOut = () => layOutCluster((url) => serve(url, options));

  /** Starts the pods, and gives their database and another one. */
  async function begin(cluster: Cluster) {
    const [OLD, NEW] = [await server.makeMigrated(), await server.makeDatabase()];
    await done(cluster, SECRET, { OLD });
    await cluster.scale(2);
    return { OLD, NEW };
  }

  const titlesOf = async ({ pods }: Cluster) => ((await pods.at(-1)?.titles()) ?? []).sort();

  test('are moved to another database by the page, and no create that was acknowledged is missing', async () => {
    await using cluster = await layOut();
    const { NEW } = await begin(cluster);
    const created = await createdDuring(cluster, () => done(cluster, MOVE, { NEW }));
    assert.equal(cluster.secrets.get('todo-service-database'), NEW);
    assert.equal(cluster.pods.length, 4);
    const found = await titlesOf(cluster);
    assert.deepEqual(
      created.filter((title) => !found.includes(title)),
      [],
    );
    const [row] = await server.execute(NEW, 'SELECT count(*)::int FROM todos');
    assert.equal(row?.count, found.length);
  });

  test('go on with the old database when their pods do not end: nothing is moved', async () => {
    await using cluster = await layOut();
    const { OLD, NEW } = await begin(cluster);
    cluster.hang();
    const created = await createdDuring(cluster, async () => {
      assert.notEqual((await cluster.tried(MOVE, { NEW })).code, 0);
      assert.deepEqual([cluster.secrets.get('todo-service-database'), cluster.jobs.size], [OLD, 0]);
      await done(cluster, BACK);
    });
    assert.deepEqual(await titlesOf(cluster), [...created].sort());
  });

  test('go on with the old database when the Job fails, because the new one is not empty', async () => {
    await using cluster = await layOut();
    const { OLD, NEW } = await begin(cluster);
    await runProgram(['migrate', '--database', NEW]);
    await server.execute(NEW, "INSERT INTO todos (title, category_id) VALUES ('of somebody else', 1)");
    const created = await createdDuring(cluster, async () => {
      assert.notEqual((await cluster.tried(MOVE, { NEW })).code, 0);
      assert.equal(cluster.secrets.get('todo-service-database'), OLD);
      const why = await done(cluster, 'kubectl logs job/todo-service-move --all-containers');
      assert.match(why, /\nCannot import: the database must be empty/);
      await done(cluster, BACK);
    });
    assert.deepEqual(await titlesOf(cluster), [...created].sort());
  });
});

test('One instance with a volume is backed up by the CronJob, three times, and restored by the page', {
  skip: noKustomize,
}, async () => {
  await using cluster = await layOutCluster((_, data) => serve(`sqlite:${join(data, 'todos.db')}`));
  const cronJob = rendered('sqlite').find(({ kind }) => kind === 'CronJob');
  const backUp = () => cluster.runPod(cronJob?.spec.jobTemplate.spec.template.spec);
  await cluster.scale(1);
  const [first] = cluster.pods;
  for (const title of ['a', 'b', 'c', 'd', 'e']) {
    await first?.post({ title });
    assert.deepEqual(
      (await backUp()).map(({ code, stderr }) => [code, stderr]),
      [[0, '']],
    );
  }
  const copies = cluster.at('data/backups');
  assert.equal(readdirSync(copies).length, 3);
  assert.equal(statSync(copies).mode & 0o777, 0o700);
  await first?.post({ title: 'after the backup' });
  // Twice: the Job of before is there.
  for (let times = 1; times <= 2; times += 1) {
    const said = await done(cluster, RESTORE);
    assert.match(
      said,
      /Restored into [^\n]*: todos 5, [^\n]*\nThe old database is \S+\/data\/todos\.db\.\S+\. /,
    );
    assert.deepEqual(await cluster.pods.at(-1)?.titles(), ['a', 'b', 'c', 'd', 'e']);
  }
});
