/** Where a todo belongs. No endpoint exposes categories (specification, Category). */
export interface Category {
  readonly id: number;
  readonly name: string;
}

/** What an operator does with a database, served or not: an instance need not be stopped for any of it. */
export interface Operator extends AsyncDisposable {
  /** Ordered by id. */
  listCategories(): Promise<readonly Category[]>;
  /** The category can be used by every instance at once. Names may repeat. */
  addCategory(name: string): Promise<Category>;
  /** Looks at engine, schema, durability and contents. */
  inspect(): Promise<Inspection>;
}

/** What was found, for people. */
export interface Inspection {
  readonly facts: Readonly<Record<string, string | number>>;
  /** What is wrong, one line each; none when all is well. */
  readonly faults: readonly string[];
}
