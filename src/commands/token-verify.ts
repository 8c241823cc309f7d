import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { readDevelopmentKey } from '../auth/development-key.ts';
import { type Examination, examineToken } from '../auth/examine.ts';
import { fixedKeys, type Keys } from '../auth/keys.ts';
import { KeysNotOpened } from '../auth/keys-not-opened.ts';
import { openKeys } from '../auth/open-keys.ts';
import type { AuthSettings } from '../auth/settings.ts';
import { readConfig } from '../config.ts';
import { personLine } from '../observe/log.ts';

const HELP = `Usage: todo-service token verify TOKEN|- [flags]

Says check by check what a service with this configuration makes of a token; "-" reads it from standard input, so
that it stays out of the shell's history. The settings are those of "serve", variables included.

  --environment development|production    TODO_ENVIRONMENT  default production
  --data-dir DIR                          TODO_DATA_DIR     default data
  --help

Exit codes: 0 the service accepts the token, 1 it refuses it or has no keys, 2 wrong usage, 78 faults in the configuration.

Examples:
  todo-service token create --name ada | todo-service token verify --environment development -
  TODO_AUTH_ISSUER=https://login.example.org TODO_AUTH_AUDIENCE=todo-service todo-service token verify - < token.txt
`;

const MARKS = { ok: 'ok     ', failed: 'FAILED ', unknown: '-      ' };

/** `todo-service token verify`: explains the verdict on a token. The result is the exit code. */
export async function tokenVerify(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const usage = readUsage(argv);
  if (typeof usage === 'string') {
    process.stderr.write(`${usage}\nRun "todo-service token verify --help" for the flags.\n`);
    return 2;
  }
  if (usage === undefined) {
    process.stdout.write(HELP);
    return 0;
  }
  const read = await readConfig({ ...usage.flags, profile: 'shared-list' }, env);
  if ('faults' in read) {
    process.stderr.write(`Cannot verify, the configuration has faults:\n  ${read.faults.join('\n  ')}\n`);
    return 78;
  }
  const { profile } = read.config;
  if (profile.name !== 'shared-list') throw new Error('Cannot verify: the profile has no authentication');
  const token = usage.token === '-' ? (await text(process.stdin)).trim() : usage.token;
  try {
    await using keys = await openKeysToLook(profile.auth);
    const examination = await examineToken(token, keys, profile.auth, Date.now() / 1000);
    process.stdout.write(describe(examination));
    return examination.verdict === 'accepted' ? 0 : 1;
  } catch (error) {
    if (!(error instanceof KeysNotOpened)) throw error;
    process.stderr.write(`Cannot verify: ${error.message}\n`);
    return 78;
  }
}

/** Looking at a token is no reason to make a development key. */
async function openKeysToLook(settings: AuthSettings): Promise<Keys> {
  const { source } = settings;
  if (source.kind === 'development' && (await readDevelopmentKey(source.path)).outcome === 'missing') {
    return fixedKeys([], `${source.path}, which is not there yet ("serve" or "token create" makes it)`);
  }
  const log = pino(
    {
      level: 'warn',
      formatters: { level: (level) => ({ level }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: (line: string) => process.stderr.write(personLine(line)) },
  );
  return openKeys(settings, { log });
}

const VERDICTS: Readonly<Record<Examination['verdict'], string>> = {
  accepted: 'The token is accepted.',
  refused: 'The token is refused: 401.',
  unavailable: 'The token cannot be verified now, because there are no keys: 503.',
};

function describe({ verdict, checks }: Examination): string {
  const lines = checks.map(({ check, result, detail }) => `${MARKS[result]}${check.padEnd(10)} ${detail}`);
  return `${[...lines, VERDICTS[verdict]].join('\n')}\n`;
}

interface Usage {
  readonly token: string;
  readonly flags: { readonly environment: string | undefined; readonly 'data-dir': string | undefined };
}

/** What is asked for; a sentence about wrong usage; or undefined when help is asked for. */
function readUsage(argv: readonly string[]): Usage | string | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { environment: { type: 'string' }, 'data-dir': { type: 'string' }, help: { type: 'boolean' } },
    });
    if (values.help === true) return undefined;
    const [token] = positionals;
    if (token === undefined || positionals.length > 1) {
      return `One token or "-" must be given, received ${positionals.length}`;
    }
    return { token, flags: { environment: values.environment, 'data-dir': values['data-dir'] } };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
