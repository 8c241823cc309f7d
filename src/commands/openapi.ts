import { quoteReceived } from '../lib/quote.ts';
import { isDocumented, readDocument } from '../openapi/documents.ts';
import { SETTINGS } from '../settings/table.ts';
import { defineCommand, WrongUsage } from './command.ts';
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

const LINE = { action: 'print the document', flags: { profile: { type: 'string' } }, help: HELP } as const;

export const openapi = defineCommand(LINE, async ({ profile = PROFILE.default }) => {
  if (!isDocumented(profile)) {
    throw new WrongUsage(`--profile must be shared-list or error-demo, received ${quoteReceived(profile)}`);
  }
  print(readDocument(profile));
  return 0;
});
