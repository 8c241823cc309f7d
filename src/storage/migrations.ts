import { listAssets, readAsset } from '../lib/assets.ts';

export interface SchemaVersion {
  /** 0 when there is none. */
  readonly version: number;
  /** The oldest program that may work with it, by the version of that program's schema. Below 1: no older one may. */
  readonly oldestProgram: number;
}

/** The numbered `.sql` files of a folder: `0001-todos.sql` brings an empty database to version 1, and so on. */
export class Migrations {
  readonly #folder: URL;
  #read: readonly string[] | undefined;

  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** Read when needed, and once: a thread, which migrates nothing, never reads them. */
  get #files(): readonly string[] {
    this.#read ??= listAssets(this.#folder).map((name) => readAsset(new URL(name, this.#folder)));
    return this.#read;
  }

  get version(): number {
    return this.#files.length;
  }

  /** The SQL that leads from a version to this program's, in order. */
  from(version: number): readonly string[] {
    return this.#files.slice(version);
  }

  /**
   * The oldest program, by its version, that may work with a schema of this program's. A file names it in a line like
   * `-- Oldest program: 4`; without that line only programs that know the file may.
   */
  get oldestProgram(): number {
    const named = this.#files.map((sql) => /^-- Oldest program: (\d+)$/m.exec(sql)?.[1]);
    return Math.max(...named.map((version, index) => Number(version ?? index + 1)));
  }

  /** The fault of a database whose schema is too new for this program, for people, or undefined. */
  faultOf({ version, oldestProgram }: SchemaVersion): string | undefined {
    const oldest = oldestProgram >= 1 ? oldestProgram : version;
    if (version <= this.version || oldest <= this.version) return undefined;
    return (
      `its schema must be version ${this.version} or older, received ${version}, for programs from ${oldest} on: ` +
      'start the newer todo-service that made it, or export with that one and import with this one'
    );
  }

  /** The fault of a schema that is older than this program's, for a caller that may change nothing. */
  olderFaultOf(version: number): string | undefined {
    if (version >= this.version) return undefined;
    return `its schema must be version ${this.version}, received ${version}: run "todo-service migrate" first`;
  }

  /** The fault of an export, which has to be complete, by the version of the schema. */
  exportFaultOf(version: number): string | undefined {
    if (version <= this.version) return undefined;
    return (
      `its schema is version ${version}, of which this program knows ${this.version}, so the rest would be missing: ` +
      'export with the newer todo-service'
    );
  }
}
