import { run as runTests } from 'node:test';
import { junit, spec, tap } from 'node:test/reporters';
import { endChecks, holdTarget } from './checks.ts';
import { type CommandLine, HELP, readCommandLine, type Tokens } from './command-line.ts';
import { header } from './http.ts';
import { holdTo } from './problem.ts';
import { leaveAsFound, type SharedList, send, type Target } from './target.ts';
import { TokenCommandFailed, tokensBy } from './token-command.ts';

/** Characters that a report cannot show, except its own colours: some of it comes from the service under test. */
const UNPRINTABLE = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
  text: /(?!\u001b\[[\d;]*m)[^\n\t\P{C}]/gu,
  tap: /[^\n\t\P{C}]/gu,
  junit: /[^\n\t\P{C}]/gu,
};

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  const read = readCommandLine(words);
  if (read === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if ('wrong' in read) {
    process.stderr.write(`Cannot test: ${read.wrong}\n\n${HELP}`);
    return 2;
  }
  try {
    const target = await targetOf(read);
    const obstacle = await obstacleOf(target);
    if (obstacle === undefined) return await run(read, target);
    process.stderr.write(`Cannot test ${target.baseUrl}: ${obstacle}\n`);
  } catch (error) {
    if (!(error instanceof TokenCommandFailed)) throw error;
    process.stderr.write(`Cannot test ${read.baseUrl}: ${error.message}\n`);
  }
  return 69;
}

/** Runs the chosen checks, and leaves the service as it was found. */
async function run({ law, output }: CommandLine, target: Target): Promise<number> {
  holdTo(law);
  let code: number = 0;
  for (const [signal, ofSignal] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      code = ofSignal;
      endChecks();
    });
  }
  process.stdout.on('error', () => {
    code = 74;
    endChecks();
  });
  holdTarget(target);
  // `.ts` in a clone, `.js` in the package.
  const files = [import.meta.filename.replace(/main(?=\.\w+$)/, 'suite')];
  const stream = runTests({ files, isolation: 'none' });
  stream.on('test:fail', () => {
    code ||= 1;
  });
  const report = { text: new spec(), tap, junit }[output];
  for await (const text of stream.compose(report)) {
    // Checks that were left out are not run: they say nothing about the service.
    if (code <= 1) process.stdout.write(String(text).replaceAll(UNPRINTABLE[output], '\ufffd'));
  }
  await leaveAsFound(target);
  return code;
}

async function targetOf({ baseUrl, environment, fresh, profile }: CommandLine): Promise<Target> {
  const common = {
    baseUrl,
    environment,
    fresh,
    seen: [],
    created: new Set<string>(),
  };
  if (profile.name === 'error-demo') return { profile: 'error-demo', ...common };
  return { profile: 'shared-list', ...common, ...(await identities(profile.tokens)) };
}

async function identities(how: Tokens): Promise<Pick<SharedList, 'tokens' | 'sign' | 'makeToken'>> {
  if ('editor' in how) return { tokens: how };
  if ('command' in how) {
    const makeToken = tokensBy(how.command);
    return {
      tokens: { editor: await makeToken('Ada', 'editor'), reader: await makeToken('Bob') },
      makeToken,
    };
  }
  const { sign } = how;
  const makeToken = async (name: string, role?: string) => sign({ sub: name, name, role });
  return {
    tokens: { editor: await makeToken('Ada', 'editor'), reader: await makeToken('Bob') },
    sign,
    makeToken,
  };
}

/** The reason why no check can say anything about this service, or undefined when they can. */
async function obstacleOf(target: Target): Promise<string | undefined> {
  try {
    if (target.profile === 'error-demo') {
      const { status } = await send(target, 'GET /todos/1');
      return status === 200 ? undefined : `GET /todos/1 answered ${status}: is it the profile error-demo?`;
    }
    for (const [name, token] of Object.entries(target.tokens)) {
      const reply = await send(target, 'GET /todos', { token });
      const reason = header(reply, 'www-authenticate') ?? reply.body.toString().slice(0, 200);
      if (reply.status !== 200)
        return `GET /todos with the token of the ${name} answered ${reply.status}: ${reason}`;
    }
    return undefined;
  } catch (error) {
    return `${error instanceof Error ? error.message : error}. Is the service running there?`;
  }
}
