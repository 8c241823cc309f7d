/** A category of todos. No endpoint exposes categories (contract Resources, Category). */
export interface Category {
  readonly id: number;
  readonly name: string;
}

/** Longest name of a category, in Unicode code points. */
const MAX_LENGTH = 100;

/** One line of text without white space around it, for a list. No U+0000 and no lone surrogate: storable. */
const NAME = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+(?<!\s)$/u;

/** The fault of the name of a new category, for people, or undefined. */
export function categoryNameFault(name: string): string | undefined {
  if (!NAME.test(name)) {
    return (
      'NAME must be one line of text without white space around it or control characters, ' +
      `received ${JSON.stringify(name)}`
    );
  }
  const length = [...name].length;
  if (length <= MAX_LENGTH) return undefined;
  return `NAME must have at most ${MAX_LENGTH} characters, received ${length}`;
}

/** An operator's actions on a database, served or not. A rejection is `StoreUnavailable`, `OutcomeUnknown` or a bug. */
export interface Maintenance extends AsyncDisposable {
  /** Ordered by id. */
  listCategories(): Promise<readonly Category[]>;
  /** Every instance can use the category at once. Undefined where one has the name, or a trigger leaves out the row. */
  addCategory(name: string): Promise<Category | undefined>;
  /**
   * The category's todos stay as they are: no answer shows the name. Undefined where there is no such category, another has
   * the name, or a trigger leaves out the row.
   */
  renameCategory(id: number, name: string): Promise<Category | undefined>;
  /** Looks at engine, schema, durability and contents. */
  inspect(): Promise<Inspection>;
}

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

export interface Inspection {
  readonly facts: Readonly<Record<string, string | number>>;
  /** The faults, one line each; none when all is well. */
  readonly faults: readonly string[];
}

/** The facts of a schema that was compared with a new one. @param computing Parts of others that compute a value. */
export const comparedWith = (computing: readonly string[]): Inspection['facts'] => ({
  definitions: 'compared',
  ...(computing.length > 0 && { 'computed by others': computing.join(', ') }),
});

/** The progress of a backup: bytes that were copied, or that the copy is being checked. */
export type BackupProgress = { readonly copied: number; readonly total: number } | 'checking';
