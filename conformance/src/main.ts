#!/usr/bin/env node
import { checksFor } from './checks.ts';
import { clausesOf } from './clause.ts';
import { type CommandLine, HELP, readCommandLine, type Tokens } from './command-line.ts';
import { hold, type Outcome } from './hold.ts';
import { header } from './http.ts';
import { holdTo } from './problem.ts';
import { junitReport } from './report/junit.ts';
import { tapReport } from './report/tap.ts';
import { textReport } from './report/text.ts';
import { leaveAsFound, type SharedList, send, type Target } from './target.ts';
import { TokenCommandFailed, tokensBy } from './token-command.ts';

const REPORTS = { text: textReport, tap: tapReport, junit: junitReport };

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

/** Holds the service to everything asked for, and leaves it as it was found. */
async function run({ law, output }: CommandLine, target: Target): Promise<0 | 1> {
  holdTo(law);
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => leaveAsFound(target).finally(() => process.exit(code)));
  }
  const all = checksFor(target);
  const checks = law === 'contract' ? all : all.filter(({ name }) => clausesOf(name).some(isSpecified));
  const report = REPORTS[output](`${target.profile} at ${target.baseUrl}`, law);
  const outcomes: Outcome[] = [];
  process.stdout.write(report.begin(checks.length));
  for await (const outcome of hold(target, checks)) {
    process.stdout.write(report.outcome(outcome, outcomes.length));
    outcomes.push(outcome);
  }
  await leaveAsFound(target);
  process.stdout.write(report.end(outcomes, target.leftOut));
  return outcomes.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

function isSpecified({ law }: { readonly law: string }): boolean {
  return law === 'specification';
}

async function targetOf({ baseUrl, environment, fresh, profile }: CommandLine): Promise<Target> {
  const common = {
    baseUrl,
    environment,
    fresh,
    seen: [],
    created: new Set<string>(),
    leftOut: [],
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

/** Why no check can say anything about this service, or undefined when they can. */
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
