/** JSON for the title of a test: no character of it is a control. */
export function quoted(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return String(JSON.stringify(value)).replaceAll(/\p{Cc}/gu, escaped);
}
