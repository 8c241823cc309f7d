import pino from 'pino';
import { readDevelopmentKey } from '../auth/development.ts';
import { fixedKeys, type Keys } from '../auth/keys/keys.ts';
import { openKeys } from '../auth/keys/source.ts';
import type { AuthSettings } from '../auth/settings.ts';
import { readAuthConfig } from '../server/config.ts';
import { eventLogger, personLine } from '../telemetry/log.ts';
import { defineCommand } from './command.ts';
import { type Examination, examineToken } from './explain/examine.ts';
import { flagsFor, settingsHelp } from './flags.ts';
import { print } from './print.ts';

const VARIABLES = ['TODO_ENVIRONMENT', 'TODO_DATA_DIR'] as const;

const HELP = `Usage: todo-service token verify TOKEN|- [flags]

Explains, check by check, whether a service with this configuration accepts a token; "-" reads it from standard
input, so that it stays out of the shell's history. The variables TODO_AUTH_* are those of "serve".

${settingsHelp(VARIABLES)}
  -h, --help

Exit codes: 0 the service accepts the token, 1 it refuses it or has no keys, 2 wrong usage, 78 faults in the
configuration.

Examples:
  todo-service token create --name ada | todo-service token verify --environment development -
  TODO_AUTH_ISSUER=https://login.example.org TODO_AUTH_AUDIENCE=todo-service todo-service token verify - < token.txt
`;

const MARKS = { ok: 'ok     ', failed: 'FAILED ', unknown: '-      ' };

export const tokenVerify = defineCommand(
  { action: 'verify', flags: flagsFor(...VARIABLES), operand: 'TOKEN', help: HELP },
  async (given, env) => {
    const auth = await readAuthConfig(given, env);
    const token = given.TOKEN === '-' ? (await readInput()).trim() : given.TOKEN;
    await using keys = await openKeysToVerify(auth);
    const examination = await examineToken(token, { ...auth, keys, now: Date.now });
    print(describe(examination));
    return examination.verdict === 'accepted' ? 0 : 1;
  },
);

/** Characters. More than any accepted token: a longer input is no token, and may have no end. */
const MAX_INPUT_LENGTH = 64 * 1024;

async function readInput(): Promise<string> {
  let input = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    input += chunk;
    if (input.length > MAX_INPUT_LENGTH) break;
  }
  return input;
}

/** Opens the keys. A missing development key is not made for a verification. */
async function openKeysToVerify(settings: AuthSettings): Promise<Keys> {
  const { source } = settings;
  if (source.kind === 'development' && (await readDevelopmentKey(source.path)) === undefined) {
    return fixedKeys([], `${source.path}, which is not there yet ("serve" or "token create" makes it)`);
  }
  const log = pino(
    {
      level: 'warn',
      base: null,
      formatters: { level: (level) => ({ level }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: (line: string) => process.stderr.write(personLine(line)) },
  );
  return openKeys(settings, eventLogger(log));
}

const VERDICTS: Readonly<Record<Examination['verdict'], string>> = {
  accepted: 'The token is accepted.',
  refused: 'The token is refused: 401.',
  unavailable: 'The token cannot be verified now, because there are no keys: 503.',
};

function describe({ verdict, lines: said }: Examination): string {
  const width = Math.max(10, ...said.map(({ check }) => check.length));
  const lines = said.map(({ check, result, detail }) => `${MARKS[result]}${check.padEnd(width)} ${detail}`);
  return `${[...lines, VERDICTS[verdict]].join('\n')}\n`;
}
