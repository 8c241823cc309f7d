/** Where the two services are that the generated code is run against, and the tokens of the shared list. */
export const listUrl = variable('TODO_LIST_URL');
export const demoUrl = variable('TODO_DEMO_URL');
export const editor = variable('TODO_EDITOR');
export const reader = variable('TODO_READER');

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} must be set: run generators/check.ts`);
  return value;
}
