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

/** Every import that crosses from one module of `src` to another. */
export function importsOfModules(): readonly Import[] {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'));
  return files.sort().flatMap((file) => {
    const code = readFileSync(join(ROOT, file), 'utf8');
    const found = code.matchAll(/^(?:import|export) (type )?[^;]*?from '(\.[^']+)'|import\('(\.[^']+)'\)/gm);
    return Array.from(found, ([, type, stated, called]) => ({
      from: moduleOf(file),
      to: moduleOf(join(dirname(file), stated ?? called ?? '')),
      file,
      isType: type !== undefined,
    })).filter(({ from, to }) => from !== to);
  });
}
