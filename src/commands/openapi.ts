import { isDocumented, readDocument } from '../openapi/documents.ts';
import { SETTINGS } from '../settings.ts';
import { readFlags, wrongUsage } from './flags.ts';
import { print } from './print.ts';

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

/** `todo-service openapi`. The result is the exit code. */
export async function openapi(argv: readonly string[]): Promise<number> {
  const flags = readFlags({ command: 'openapi', flags: { profile: { type: 'string' } }, help: HELP }, argv);
  if (typeof flags === 'number') return flags;
  const { profile = PROFILE.default } = flags;
  if (!isDocumented(profile)) {
    const received = JSON.stringify(profile);
    return wrongUsage('openapi', `--profile must be shared-list or error-demo, received ${received}`);
  }
  print(readDocument(profile));
  return 0;
}
