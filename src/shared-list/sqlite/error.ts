/**
 * The extended result code of an error that SQLite raised, or undefined for any other error.
 * https://www.sqlite.org/rescode.html
 */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** The low eight bits of an extended result code name its kind: SQLITE_BUSY_SNAPSHOT is a SQLITE_BUSY. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && (code & 0xff) === SQLITE_BUSY;
}

const SQLITE_BUSY = 5;
export const SQLITE_CONSTRAINT_CHECK = 275;
export const SQLITE_CONSTRAINT_FOREIGNKEY = 787;
