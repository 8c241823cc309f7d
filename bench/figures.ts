import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Of a request: microseconds of processor of all threads of the server, or of all instances, and of its PostgreSQL; bytes of
 * the answer. And how many were answered in a second.
 */
export type Cost = Readonly<Record<'service' | 'postgres' | 'bytes' | 'perSecond', number>>;

/** Megabytes of a process at the most, and of the file or the tables; milliseconds of processor of the first list. */
export type Size = Readonly<Record<'memory' | 'database' | 'firstList', number>>;

/** Milliseconds until the whole answer is there, below which these shares of the requests stay. */
export type Latency = Readonly<Record<'p50' | 'p99' | 'perSecond', number>>;

/** Each figure in the order of the rounds: what stands at one place was measured in one round. */
export type Rounds<T> = Record<keyof T, number[]>;

type Table<T> = Record<string, Record<string, Rounds<T>>>;

/** What was measured on one machine. */
export interface Figures {
  machine: string;
  /** By the number of todos, or the scenario that has servers of its own, the work, the server. */
  costs: Record<string, Table<Cost>>;
  /** By the same, the server. */
  sizes: Table<Size>;
  /** By the work, of that scenario or of the others, the server. */
  latency: Table<Latency>;
}

export function noFigures(machine: string): Figures {
  return { machine, costs: {}, sizes: {}, latency: {} };
}

/** Adds a round. */
export function keep<T extends Readonly<Record<string, number>>>(
  table: Table<T>,
  row: string,
  column: string,
  figures: T,
): void {
  const earlier = table[row]?.[column];
  const rounds = Object.entries(figures).map(([name, value]) => {
    return [name, [...(earlier?.[name] ?? []), Number(value.toPrecision(4))]];
  });
  table[row] = { ...table[row], [column]: Object.fromEntries(rounds) };
}

/**
 * Puts the figures of a run in the place of earlier ones. A work is replaced as a whole: ratios are of one run.
 *
 * @throws Error where they are of another machine.
 */
export function merged(old: Figures, next: Figures): Figures {
  if (old.machine !== next.machine) throw new Error(`The figures are of another machine: ${old.machine}`);
  return together(old, next);
}

/** Those that are published: of PostgreSQL beside others, and all the rest. */
export const PUBLISHED = ['bench/figures.json', 'bench/postgresql.json'] as const;

/** All that are published, which may be of two machines: their works differ. */
export function published(): Figures {
  const [rest, postgresql] = PUBLISHED.map(readFigures) as [Figures, Figures];
  return together(rest, postgresql);
}

function together(old: Figures, { costs, sizes, latency }: Figures): Figures {
  const both = <T extends object>(first: Record<string, T>, second: Record<string, T>) => {
    const names = Object.keys({ ...first, ...second });
    return Object.fromEntries(names.map((name) => [name, { ...first[name], ...second[name] } as T]));
  };
  return {
    machine: old.machine,
    costs: both(old.costs, costs),
    sizes: { ...old.sizes, ...sizes },
    latency: { ...old.latency, ...latency },
  };
}

/** @throws Error where the file is missing or no JSON. */
export function readFigures(path: string): Figures {
  return JSON.parse(readFileSync(path, 'utf8'));
}

export function writeFigures(path: string, figures: Figures): void {
  // The numbers of the rounds in one line, as the formatter has them.
  const text = JSON.stringify(figures, null, 2).replace(/\[[^[{]*?\]/g, (list) =>
    list.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'),
  );
  writeFileSync(path, `${text}\n`);
}
