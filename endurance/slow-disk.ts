// How long reads of one todo and writes take on a disk whose every sync takes longer: node endurance/slow-disk.ts --help
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { signer } from '../conformance/src/sign.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { quantile, steadily } from '../test/steadily.ts';
import { compileDisk } from '../test/storage/disk.ts';
import { temporaryFolder } from '../test/storage/folder.ts';

const HELP = `Usage: node endurance/slow-disk.ts [flags]

Sends reads and writes at a fixed rate, whether or not earlier ones were answered, and for each read one to a bare
node:http server that does nothing. First without the delay, then with it. Prints milliseconds; what the bare server
takes as well is the machine's and the client's doing. Then the syncs fail, and it says what writes were answered, and
whether reads went on. Linux, a C compiler.

  --delay MS    that each sync takes longer, default 20
  --seconds S   of each part, default 10
  --reads N     a second, default 500
  --writes N    a second, default 50
  --help
`;

const flags = scriptFlags(HELP, { delay: 20, seconds: 10, reads: 500, writes: 50 });

const BARE = `require('node:http').createServer((_, answer) => answer.end('{}'))
  .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;

await using folder = await temporaryFolder();
const auth = { issuer: 'https://issuer.example', audience: 'todo', secret: randomBytes(32) };
const library = await compileDisk(folder.path);
const agent = new Agent({ keepAlive: true });
const headers = {
  authorization: `Bearer ${signer(auth)({ role: 'editor' })}`,
  'content-type': 'application/json',
};
const bare = spawn(process.execPath, ['--eval', BARE], { stdio: ['ignore', 'pipe', 'inherit'] });
const [port] = await once(bare.stdout, 'data');
const bareUrl = `http://127.0.0.1:${String(port).trim()}`;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly milliseconds: number;
}

function ask(method: string, url: string, body = ''): Promise<Answer> {
  const from = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asked = request(url, { method, headers, agent }, async (response) => {
    await text(response);
    const { statusCode: status = 0, headers: answered } = response;
    resolve({ status, retryAfter: answered['retry-after'], milliseconds: performance.now() - from });
  });
  asked.on('error', reject).end(body);
  return promise;
}

const todo = (title: string): string => JSON.stringify({ title, categoryId: 1 });
const idOf = (): number => 1 + Math.floor(Math.random() * 100);

function figures(answers: readonly Answer[]) {
  const times = answers.map(({ milliseconds }) => milliseconds);
  const at = (share: number): string => quantile(times, share).toFixed(2);
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

/** Loads a service on a disk with this delay, and one that fails at the end if wanted. */
async function measure(delay: number, fails: boolean): Promise<void> {
  const dataDir = join(folder.path, `data-${delay}`);
  const broken = join(folder.path, 'broken');
  await mkdir(dataDir);
  const env = {
    ...library,
    DISK_FOLDER: dataDir,
    DISK_DELAY_US: String(delay * 1_000),
    DISK_BROKEN: broken,
  };
  await using service = await startService({ dataDir, auth, env });
  const todos = `${service.baseUrl}/todos`;
  await Promise.all(Array.from({ length: 100 }, (_, index) => ask('POST', todos, todo(`todo ${index}`))));

  const read = () => ask('GET', `${todos}/${idOf()}`);
  const write = () => ask('PUT', `${todos}/${idOf()}`, todo(`changed ${Math.random()}`));
  const { reads: perSecond, seconds } = flags;
  await Promise.all([steadily(perSecond, 2, read), steadily(perSecond, 2, () => ask('GET', bareUrl))]);
  const [reads, nothing, writes] = await Promise.all([
    steadily(perSecond, seconds, read),
    steadily(perSecond, seconds, () => ask('GET', bareUrl)),
    steadily(flags.writes, seconds, write),
  ]);
  console.log(
    JSON.stringify({ delay, reads: figures(reads), bare: figures(nothing), writes: figures(writes) }),
  );
  if (!fails) return;

  await writeFile(broken, '');
  const failed = await ask('PUT', `${todos}/1`, todo('broken'));
  const { status } = await ask('GET', `${todos}/1`);
  await rm(broken);
  const again = await ask('PUT', `${todos}/1`, todo('again'));
  console.log(
    JSON.stringify({ broken: { write: figures([failed]), read: status, afterwards: again.status } }),
  );
}

try {
  await measure(0, false);
  await measure(flags.delay, true);
} finally {
  bare.kill();
  agent.destroy();
}
