import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Law } from './problem.ts';
import { type Sign, signer } from './sign.ts';

export const HELP = `Usage: todo-conformance --base-url URL [flags]

Holds a running service to the specification of the Todo Service, and to the contract that settles what the
specification leaves open. The checks delete what they make, and touch nothing that was there before.

  --base-url URL                          where the service is; https and a path are fine
  --profile shared-list|error-demo        default shared-list
  --only spec                             the specification alone, for an implementation that makes choices of its own
  --environment development|production    whether the OpenAPI document must be there, or must not; default: not looked at
  --fresh                                 the service was started for this, and nobody has used it: the checks may change
                                          it for good, and there are more of them
  --output text|tap|junit                 default text
  -h, --help

The profile shared-list needs tokens, of an identity with the role editor and of one without. Either

  --editor-token TOKEN, --reader-token TOKEN
or
  --token-command COMMAND                 run with --name NAME [--role editor] behind it; prints a token
or, which also checks what a token must hold,
  --secret-file FILE                      the HMAC secret that the service trusts, at least 64 bytes: a line
                                          base64:… or text:…, the first of several
  --issuer ISSUER, --audience AUDIENCE    the claims iss and aud that it asks for

Exit codes: 0 conforms, 1 does not, 2 wrong usage, 69 the service cannot be reached or refuses the tokens, 74 standard
output was closed, 130 or 143 ended by a signal.

Examples:
  todo-conformance --base-url http://127.0.0.1:5081 --profile error-demo --only spec
  todo-conformance --base-url http://127.0.0.1:5080 --environment development \\
    --token-command 'todo-service token create'
  todo-conformance --base-url https://todos.example.org --editor-token "$EDITOR" --reader-token "$READER" --output junit
`;

const OPTIONS = {
  'base-url': { type: 'string' },
  profile: { type: 'string', default: 'shared-list' },
  only: { type: 'string' },
  environment: { type: 'string' },
  fresh: { type: 'boolean', default: false },
  output: { type: 'string', default: 'text' },
  'editor-token': { type: 'string' },
  'reader-token': { type: 'string' },
  'token-command': { type: 'string' },
  'secret-file': { type: 'string' },
  issuer: { type: 'string' },
  audience: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The source of tokens. */
export type Tokens =
  | { readonly editor: string; readonly reader: string }
  | { readonly command: string }
  | { readonly sign: Sign };

export interface CommandLine {
  readonly baseUrl: URL;
  readonly law: Law;
  readonly environment: 'development' | 'production' | undefined;
  readonly fresh: boolean;
  readonly output: 'text' | 'tap' | 'junit';
  readonly profile:
    | { readonly name: 'error-demo' }
    | { readonly name: 'shared-list'; readonly tokens: Tokens };
}

/** A fault of the command line, for people. */
class WrongUsage extends Error {}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** The meaning of the words: a command line, `help`, or the fault of the words. */
export function readCommandLine(words: readonly string[]): CommandLine | 'help' | { readonly wrong: string } {
  try {
    const { values } = parseArgs({ args: [...words], options: OPTIONS });
    return values.help ? 'help' : read(values);
  } catch (error) {
    // parseArgs throws a TypeError for an unknown word.
    if (error instanceof WrongUsage || error instanceof TypeError) return { wrong: error.message };
    throw error;
  }
}

function read(values: Values): CommandLine {
  const address = values['base-url'];
  if (address === undefined) throw new WrongUsage('--base-url is missing');
  const baseUrl = URL.parse(address);
  if (baseUrl === null || !/^https?:$/.test(baseUrl.protocol)) {
    throw new WrongUsage(`--base-url must be an http or https URL, received ${JSON.stringify(address)}`);
  }
  const profile = oneOf('--profile', values.profile, ['shared-list', 'error-demo']);
  const { environment } = values;
  const only = values.only === undefined ? undefined : oneOf('--only', values.only, ['spec']);
  return {
    baseUrl,
    law: only === 'spec' ? 'specification' : 'contract',
    environment:
      environment === undefined
        ? undefined
        : oneOf('--environment', environment, ['development', 'production']),
    fresh: values.fresh,
    output: oneOf('--output', values.output, ['text', 'tap', 'junit']),
    profile: profile === 'error-demo' ? { name: profile } : { name: profile, tokens: tokensOf(values) },
  };
}

function oneOf<const Value extends string>(flag: string, value: string, values: readonly Value[]): Value {
  const found = values.find((one) => one === value);
  if (found !== undefined) return found;
  throw new WrongUsage(`${flag} must be ${values.join(' or ')}, received ${JSON.stringify(value)}`);
}

function tokensOf(values: Values): Tokens {
  const {
    'editor-token': editor,
    'reader-token': reader,
    'token-command': command,
    issuer,
    audience,
  } = values;
  const file = values['secret-file'];
  if (file !== undefined) {
    if (!issuer || !audience) throw new WrongUsage('--secret-file needs --issuer and --audience');
    return { sign: signer({ issuer, audience, secret: readSecret(file) }) };
  }
  if (command) return { command };
  if (editor && reader) return { editor, reader };
  throw new WrongUsage(
    'the profile shared-list needs --editor-token and --reader-token, or --token-command, or --secret-file',
  );
}

/** The secret of the first line that begins with `base64:` or `text:`. */
function readSecret(file: string): Buffer {
  let content: string;
  try {
    content = readFileSync(file, 'latin1');
  } catch (error) {
    throw new WrongUsage(`--secret-file: ${error instanceof Error ? error.message : error}`);
  }
  const [, form, secret = ''] = /^(base64|text):(.+?)\r?$/m.exec(content) ?? [];
  if (form === undefined)
    throw new WrongUsage('--secret-file must hold a line that begins with "base64:" or "text:"');
  return Buffer.from(secret, form === 'text' ? 'latin1' : 'base64');
}
