import { readAsset } from '../assets.ts';
import { print } from '../print.ts';
import { SETTINGS } from '../settings.ts';
import { readFlags, wrongUsage } from './flags.ts';

const PROFILE = SETTINGS.TODO_PROFILE;

const HELP = `Usage: todo-service openapi [flags]

Prints the OpenAPI 3.1 document that the service serves in development, and only there. The npm package has the same
documents as todo-service/openapi/shared-list.v1.json and todo-service/openapi/error-demo.v1.json.

  --profile ${PROFILE.flag}    default ${PROFILE.default}
  -h, --help

Exit codes: 0 printed, 2 wrong usage.

Examples:
  todo-service openapi > todos.json
  todo-service openapi --profile error-demo > demo.json
`;

/** What the build of the single executable brings along: it finds these expressions. */
const DOCUMENTS: ReadonlyMap<string, URL> = new Map([
  ['shared-list', new URL('../openapi/shared-list.v1.json', import.meta.url)],
  ['error-demo', new URL('../openapi/error-demo.v1.json', import.meta.url)],
]);

/** `todo-service openapi`. The result is the exit code. */
export async function openapi(argv: readonly string[]): Promise<number> {
  const flags = readFlags({ command: 'openapi', flags: { profile: { type: 'string' } }, help: HELP }, argv);
  if (typeof flags === 'number') return flags;
  const { profile = PROFILE.default } = flags;
  const document = DOCUMENTS.get(profile);
  if (document === undefined) {
    const received = JSON.stringify(profile);
    return wrongUsage('openapi', `--profile must be shared-list or error-demo, received ${received}`);
  }
  print(`${readAsset(document)}\n`);
  return 0;
}
