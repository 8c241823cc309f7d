/** A clause of the specification or a row of the contract that a check shows. */
export interface Clause {
  readonly law: 'specification' | 'contract';
  /** As the specification or the contract calls it. */
  readonly chapter: string;
  /** As written: `Errors 4`, `R4`. */
  readonly name: string;
}

/** Chapters of the contract by the letter of their rows. */
const ROWS: Readonly<Record<string, string>> = {
  R: 'Routes',
  P: 'Problem Details',
  N: 'Problem Details',
  B: 'Requests with a body',
  A: 'Authentication',
  D: 'Profiles, environment, documents',
  I: 'A create that may be repeated',
};

const ORDER = 'Order of checks';

/** Chapters of the specification by how their clauses are cited. */
const CHAPTERS: Readonly<Record<string, string>> = {
  'What the service does': 'What the service does',
  Resources: 'Resources and their fields',
  TodoResponse: 'Resources and their fields',
  ReplaceTodo: 'Resources and their fields',
  'Problem Details body': 'Resources and their fields',
  States: 'States and transitions',
  'States B': 'States and transitions',
  'Endpoints A': 'Endpoints',
  'Endpoints B': 'Endpoints',
  'Development-only endpoints': 'Endpoints',
  Authentication: 'Authentication',
  Errors: 'Errors',
  Limits: 'Limits',
  Versioning: 'Versioning',
};

/**
 * The clauses that the name of a check begins with, before its dot: `A3, Authentication 3, 5 · without …`. A number
 * or a rule belongs to the chapter before it.
 *
 * @throws {Error} when one is in no chapter.
 */
export function clausesOf(name: string): readonly Clause[] {
  const clauses: Clause[] = [];
  let cited = '';
  for (const part of (name.split(' · ')[0] ?? '').split(', ')) {
    const row = /^([RPNBADI])\d+$/.exec(part)?.[1];
    if (row !== undefined) clauses.push({ law: 'contract', chapter: ROWS[row] ?? '', name: part });
    else if (/^Order \d$|^One request gets one answer$/.test(part)) {
      clauses.push({ law: 'contract', chapter: ORDER, name: part });
    } else {
      const continued = /^\d+$|^rule \d+$|^[A-Z]+ \//.test(part);
      if (!continued) cited = part.replace(/ \d+$/, '');
      const chapter = CHAPTERS[cited];
      if (chapter === undefined)
        throw new Error(`${JSON.stringify(part)} in ${JSON.stringify(name)} is no clause`);
      clauses.push({ law: 'specification', chapter, name: continued ? `${cited} ${part}` : part });
    }
  }
  return clauses;
}
