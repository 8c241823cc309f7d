import { Cannot } from '../lib/cannot.ts';

/** Where a todo belongs. No endpoint exposes categories (contract Resources, Category). */
export interface Category {
  readonly id: number;
  readonly name: string;
}

/** Longest name of a category, in Unicode code points. */
const MAX_LENGTH = 100;

/** One line of text without gaps around it: it is read in a list. No U+0000 and no lone surrogate: storable. */
const NAME = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+(?<!\s)$/u;

/** What is wrong with the name of a new category, for people, or undefined. */
export function categoryNameFault(name: string): string | undefined {
  if (!NAME.test(name)) {
    return (
      'NAME must be one line of text without white space around it or control characters, ' +
      `received ${JSON.stringify(name)}`
    );
  }
  const length = [...name].length;
  return length <= MAX_LENGTH
    ? undefined
    : `NAME must have at most ${MAX_LENGTH} characters, received ${length}`;
}

/**
 * What an operator does with a database, served or not: an instance need not be stopped for any of it. A
 * rejection is `StoreUnavailable`, `OutcomeUnknown` or a bug.
 */
export interface Maintenance extends AsyncDisposable {
  /** Ordered by id. */
  listCategories(): Promise<readonly Category[]>;
  /** The category can be used by every instance at once. */
  addCategory(name: string): Promise<Category | 'name-taken'>;
  /** Its todos stay as they are: no answer shows the name. A name that it has already is none of another. */
  renameCategory(id: number, name: string): Promise<Category | 'name-taken' | 'category-missing'>;
  /** Looks at engine, schema, durability and contents. */
  inspect(): Promise<Inspection>;
}

/** Schema versions before and after a migration. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** What was found, for people. */
export interface Inspection {
  readonly facts: Readonly<Record<string, string | number>>;
  /** What is wrong, one line each; none when all is well. */
  readonly faults: readonly string[];
}

/** A backup cannot be made; there is no copy then. The message is why, for people. */
export class BackupFailed extends Cannot {
  override readonly name = 'BackupFailed';
}

/** How far a backup is: bytes that were copied, or that the copy is being checked. */
export type BackupProgress = { readonly copied: number; readonly total: number } | 'checking';
