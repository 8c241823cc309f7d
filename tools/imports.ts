import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** One import of a file in `src` from another module. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** As `src/http/pipeline.ts`. */
  readonly file: string;
  /** Whether it leaves nothing in the program: `import type`. */
  readonly isType: boolean;
}

/** A file directly in `src`, or a folder there; the adapters of the two databases are modules of their own. */
export function moduleOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return first === 'storage' && (second === 'sqlite' || second === 'postgres') ? second : first;
}

/** Every import of a file of `src` by another, tests left out. A type counts. */
export function importsOfFiles(): readonly {
  readonly file: string;
  readonly imported: string;
  readonly isType: boolean;
}[] {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'));
  return files.sort().flatMap((file) => {
    const code = readFileSync(join(ROOT, file), 'utf8');
    const found = code.matchAll(/^(?:import|export) (type )?[^;]*?from '(\.[^']+)'|import\('(\.[^']+)'\)/gm);
    return Array.from(found, ([, type, stated, called]) => ({
      file,
      imported: join(dirname(file), stated ?? called ?? ''),
      isType: type !== undefined,
    }));
  });
}

/** Every import that crosses from one module of `src` to another. */
export function importsOfModules(): readonly Import[] {
  return importsOfFiles()
    .map(({ file, imported, isType }) => ({ from: moduleOf(file), to: moduleOf(imported), file, isType }))
    .filter(({ from, to }) => from !== to);
}

/** The files of `src` that lead back to themselves by what they import. */
export function filesInCircles(): readonly string[] {
  const imports = Map.groupBy(importsOfFiles(), ({ file }) => file);
  const reached = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const { imported } of imports.get(file) ?? []) {
      if (!seen.has(imported)) reached(imported, seen.add(imported));
    }
    return seen;
  };
  return [...imports.keys()].filter((file) => reached(file).has(file));
}
