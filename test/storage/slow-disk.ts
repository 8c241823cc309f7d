// Reads and writes on a disk whose every sync takes longer: node test/storage/slow-disk.ts --delay 20 --seconds 10
// Says how long reads of one todo and writes took, in milliseconds (Linux, a C compiler). Then the syncs fail, and
// it says what writes were answered, and whether reads went on.
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { signer } from '../sign.ts';
import { startService } from '../start.ts';
import { compileDisk } from './disk.ts';
import { temporaryFolder } from './folder.ts';

const { values } = parseArgs({
  options: {
    delay: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    readers: { type: 'string', default: '12' },
    writers: { type: 'string', default: '4' },
  },
});

await using folder = await temporaryFolder();
const dataDir = join(folder.path, 'data');
const broken = join(folder.path, 'broken');
await mkdir(dataDir);
const auth = { issuer: 'https://issuer.example', audience: 'todo', secret: randomBytes(32) };
const disk = {
  ...(await compileDisk(folder.path)),
  DISK_FOLDER: dataDir,
  DISK_DELAY_US: String(Number(values.delay) * 1_000),
  DISK_BROKEN: broken,
};
await using service = await startService({ dataDir, auth, env: disk });
const agent = new Agent({ keepAlive: true });
const headers = {
  authorization: `Bearer ${signer(auth)({ role: 'editor' })}`,
  'content-type': 'application/json',
};

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly milliseconds: number;
}

function ask(method: string, path: string, body = ''): Promise<Answer> {
  const from = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asked = request(service.baseUrl + path, { method, headers, agent }, async (response) => {
    await text(response);
    const { statusCode: status = 0, headers: answered } = response;
    resolve({ status, retryAfter: answered['retry-after'], milliseconds: performance.now() - from });
  });
  asked.on('error', reject).end(body);
  return promise;
}

const todo = (title: string): string => JSON.stringify({ title, categoryId: 1 });
const idOf = (): number => 1 + Math.floor(Math.random() * 100);

async function repeat(clients: number, until: number, operation: () => Promise<Answer>): Promise<Answer[]> {
  const one = async (): Promise<Answer[]> => {
    const answers: Answer[] = [];
    while (performance.now() < until) answers.push(await operation());
    return answers;
  };
  return (await Promise.all(Array.from({ length: clients }, one))).flat();
}

function figures(answers: readonly Answer[]) {
  const sorted = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
  const kinds = new Set(
    answers.map(({ status, retryAfter }) => `${status}${retryAfter === undefined ? '' : ' Retry-After'}`),
  );
  return {
    answers: answers.length,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(0.999_999),
    kinds: [...kinds].join(),
  };
}

await Promise.all(Array.from({ length: 100 }, (_, index) => ask('POST', '/todos', todo(`todo ${index}`))));
await repeat(16, performance.now() + 1_000, () => ask('GET', `/todos/${idOf()}`));

const until = performance.now() + Number(values.seconds) * 1_000;
const [reads, writes] = await Promise.all([
  repeat(Number(values.readers), until, () => ask('GET', `/todos/${idOf()}`)),
  repeat(Number(values.writers), until, () =>
    ask('PUT', `/todos/${idOf()}`, todo(`changed ${Math.random()}`)),
  ),
]);
console.log(JSON.stringify({ delay: values.delay, reads: figures(reads), writes: figures(writes) }));

await writeFile(broken, '');
const failed = await ask('PUT', '/todos/1', todo('broken'));
const read = await ask('GET', '/todos/1');
await rm(broken);
const again = await ask('PUT', '/todos/1', todo('again'));
console.log(
  JSON.stringify({ broken: { write: figures([failed]), read: read.status, afterwards: again.status } }),
);
agent.destroy();
