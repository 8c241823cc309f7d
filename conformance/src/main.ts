import { after, describe, test } from 'node:test';
import { parseArgs } from 'node:util';
import { checksFor } from './checks.ts';
import { header } from './http.ts';
import { leaveAsFound, send, type Target } from './target.ts';

const HELP = `Usage: npm run conformance -- --base-url URL [flags]

Holds a running service to the specification, over HTTP. What the tests make they delete again; what was there
before they do not touch.

  --base-url URL                          where the service is; https and a path are fine
  --profile shared-list|error-demo        default shared-list
  --editor-token TOKEN                    shared-list: of an identity with the role editor
  --reader-token TOKEN                    shared-list: of an identity without it
  --environment development|production    whether the OpenAPI document must be there, or must not; default: not looked at
  -h, --help

Exit codes: 0 conforms, 1 does not or cannot be reached, 2 wrong usage.

Examples:
  npm run conformance -- --base-url http://127.0.0.1:5080 --environment development \\
    --editor-token "$(npm run -s token -- --name ada --role editor)" \\
    --reader-token "$(npm run -s token -- --name bob)"
  npm run conformance -- --base-url https://todos.example.org --editor-token "$EDITOR" --reader-token "$READER"
  npm run conformance -- --base-url http://127.0.0.1:5081 --profile error-demo
`;

const options = {
  'base-url': { type: 'string' },
  profile: { type: 'string', default: 'shared-list' },
  'editor-token': { type: 'string' },
  'reader-token': { type: 'string' },
  environment: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const environments = ['development', 'production'] as const;

/** The service that the command line names, `help`, or what is wrong with the command line. */
function readCommandLine(args: readonly string[]): Target | 'help' | { readonly wrong: string } {
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return 'help';
  const { profile, 'editor-token': editor, 'reader-token': reader } = values;
  const address = values['base-url'];
  if (address === undefined) return { wrong: '--base-url is missing' };
  const baseUrl = URL.parse(address);
  if (baseUrl === null || !/^https?:$/.test(baseUrl.protocol)) {
    return { wrong: `--base-url must be an http or https URL, received ${JSON.stringify(address)}` };
  }
  const environment = environments.find((one) => one === values.environment);
  if (environment === undefined && values.environment !== undefined) {
    return {
      wrong: `--environment must be development or production, received ${JSON.stringify(values.environment)}`,
    };
  }
  const common = {
    baseUrl,
    environment,
    startedByTest: false,
    seen: [],
    created: new Set<string>(),
    leftOut: [],
  };
  if (profile === 'error-demo') return { profile, ...common };
  if (profile !== 'shared-list') {
    return { wrong: `--profile must be shared-list or error-demo, received ${JSON.stringify(profile)}` };
  }
  if (!editor || !reader) return { wrong: 'the profile shared-list needs --editor-token and --reader-token' };
  return { profile, ...common, tokens: { editor, reader } };
}

/** Why no test can say anything about this service, or undefined when they can. */
async function obstacleOf(target: Target): Promise<string | undefined> {
  try {
    if (target.profile === 'error-demo') {
      const { status } = await send(target, 'GET /todos/1');
      return status === 200 ? undefined : `GET /todos/1 answered ${status}: is it the profile error-demo?`;
    }
    for (const [name, token] of Object.entries(target.tokens)) {
      const reply = await send(target, 'GET /todos', { token });
      const reason = header(reply, 'www-authenticate') ?? reply.body.toString().slice(0, 200);
      if (reply.status !== 200) return `GET /todos with --${name}-token answered ${reply.status}: ${reason}`;
    }
    return undefined;
  } catch (error) {
    return `${error instanceof Error ? error.message : error}. Is the service running there?`;
  }
}

const target = readCommandLine(process.argv.slice(2));
if (target === 'help') process.stdout.write(HELP);
else if ('wrong' in target) {
  process.stderr.write(`Cannot test: ${target.wrong}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  const obstacle = await obstacleOf(target);
  if (obstacle === undefined) hold(target);
  else {
    process.stderr.write(`Cannot test ${target.baseUrl}: ${obstacle}\n`);
    process.exitCode = 1;
  }
}

function hold(target: Target): void {
  describe(`${target.profile} at ${target.baseUrl}`, () => {
    after(() => leaveAsFound(target));
    for (const { name, run } of checksFor(target)) test(name, run);
  });
  process.once('exit', () => process.stdout.write(`\nLeft out: ${target.leftOut.join('; ')}\n`));
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => leaveAsFound(target).finally(() => process.exit(code)));
  }
}
