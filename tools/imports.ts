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

/**
 * The modules of the table and what they import, as a picture: an arrow that another way leads around is left out, and
 * so are types.
 */
export function picture(modules: ReadonlySet<string>): string {
  const uses = new Map<string, ReadonlySet<string>>(
    [...modules].map((module) => [
      module,
      new Set(
        importsOfModules()
          .filter(({ from, to, isType }) => from === module && !isType && modules.has(to))
          .map(({ to }) => to),
      ),
    ]),
  );
  const reaches = (from: string, to: string): boolean =>
    [...(uses.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const arrows = [...uses].flatMap(([from, all]) =>
    [...all]
      .filter((to) => ![...all].some((other) => other !== to && reaches(other, to)))
      .sort()
      .map((to) => `  ${idOf(from)} --> ${idOf(to)}\n`),
  );
  const boxes = [...modules].map((module) => `  ${idOf(module)}["${module}"]\n`);
  return `flowchart TD\n${boxes.join('')}${arrows.join('')}`;
}

function idOf(module: string): string {
  return module.replace(/\W/g, '_');
}
