import { listAssets, readAsset } from '../assets.ts';

/**
 * The numbered plain `.sql` files of a folder. `0001-todos.sql` brings an empty database to version 1, and so
 * on without gaps: the file name is the order.
 */
export class Migrations {
  readonly #folder: URL;
  readonly #names: readonly string[];

  constructor(folder: URL) {
    this.#folder = folder;
    this.#names = listAssets(folder);
  }

  /** The version that this program works with. */
  get version(): number {
    return this.#names.length;
  }

  /** The SQL that leads from a version to this program's, in order. */
  from(version: number): readonly string[] {
    return this.#names.slice(version).map((name) => readAsset(new URL(name, this.#folder)));
  }

  /** What is wrong with a database of a newer version, for people, or undefined. */
  faultOf(version: number): string | undefined {
    if (version <= this.version) return undefined;
    return `its schema must be version ${this.version} or older, received ${version}: a newer todo-service made it`;
  }
}
