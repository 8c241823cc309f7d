import { createHash } from 'node:crypto';
import { OperatorError } from '../../lib/operator-error.ts';
import { quote } from '../../lib/quote.ts';
import { MAX_ID, type Obeying, type Rules, todoJson } from '../../shared-list/members.ts';
import { type ExportRows, KINDS, type Kind, type StoredRow, TABLES } from './contents.ts';
import { CATEGORY, FORMAT, type HEAD, KEY, TODO, timeOf, VERSION } from './lines.ts';
import { type Fault, judge, openRelations, type Relations } from './rules.ts';

/** A part of an export that ends with a line, and the number of todos in all parts up to its end. */
interface Part {
  readonly text: string;
  readonly todos: number;
}

/** Rows that are named, at most; all are counted. */
const MAX_NAMED = 100;

/** Rows are such as an import refuses or changes. */
export class RowsRefused extends OperatorError {
  override readonly name = 'RowsRefused';
  /** A line for people each. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    const lines = faults.map((fault) => `\n  ${fault}`).join('');
    super('bad-data', `an import would refuse these rows. Mend them first:${lines}`);
    this.faults = faults;
  }
}

/** Gives the line of a row, or the fault for which an import refuses it. */
function lineBy<Of extends Rules>(
  rules: Of,
  relation: (relations: Relations, row: Obeying<Of>) => Fault | undefined,
  textOf: (row: Obeying<Of>) => string = JSON.stringify,
) {
  return (row: StoredRow, relations: Relations): string | Fault => {
    const judged = judge(row, rules);
    if ('fault' in judged) return judged.fault;
    return relation(relations, judged.obeying) ?? textOf(judged.obeying);
  };
}

const LINES = {
  categories: lineBy(CATEGORY, (relations, row) => relations.ofCategory(row)),
  todos: lineBy(TODO, (relations, row) => relations.ofTodo(row), todoJson),
  keys: lineBy(KEY, (relations, row) => relations.ofKey(row)),
};

/**
 * An export, from its first line to its last. From the first row on that breaks a rule no part is given, and the other
 * rows are only judged.
 *
 * @throws {RowsRefused} behind the last row.
 */
export async function* exportParts(source: ExportRows): AsyncGenerator<Part> {
  const { highestId, counts } = source;
  const sha256 = createHash('sha256');
  const relations = openRelations(highestId);
  const faults: string[] = [];
  let faulty = 0;
  let todos = 0;
  const refuse = (fault: string): void => {
    faulty += 1;
    if (faulty <= MAX_NAMED) faults.push(fault);
  };
  const part = (lines: readonly string[]): Part => {
    const text = lines.map((line) => `${line}\n`).join('');
    sha256.update(text);
    return { text, todos };
  };
  const head: Obeying<typeof HEAD> = { format: FORMAT, version: VERSION, highestId, ...counts };
  yield part([JSON.stringify(head)]);
  for (const kind of KINDS) {
    let read = 0;
    for await (const rows of source.parts(kind)) {
      const lines: string[] = [];
      for (const row of rows) {
        const line = LINES[kind](kind === 'keys' ? { ...row, at: timeOf(row.at) } : row, relations);
        if (typeof line === 'string') lines.push(line);
        else refuse(describe(kind, row, line));
        if (kind === 'categories') relations.know(row.id);
      }
      read += rows.length;
      if (kind === 'todos') todos = read;
      if (faulty === 0) yield part(lines);
    }
    if (read !== counts[kind]) refuse(`rows of ${TABLES[kind].table} have no id of their own`);
  }
  if (highestId > MAX_ID)
    refuse(`the highest id that was given out must be at most ${MAX_ID}, received ${highestId}`);
  await source.check();
  if (faulty > MAX_NAMED) faults.push(`${faulty - MAX_NAMED} more rows`);
  if (faulty > 0) throw new RowsRefused(faults);
  yield { text: `${JSON.stringify({ sha256: sha256.digest('hex') })}\n`, todos };
}

/** The rows that an import refuses, a line for people each, of 100 at most. */
export async function rowFaults(source: ExportRows): Promise<readonly string[]> {
  try {
    for await (const _ of exportParts(source));
    return [];
  } catch (error) {
    if (error instanceof RowsRefused) return error.faults;
    throw error;
  }
}

/** Shows no value of a row but its id. */
function describe(kind: Kind, row: StoredRow, [name, reason]: Fault): string {
  const { table, columns } = TABLES[kind];
  const id = row[columns[0].name];
  const shown = typeof id === 'number' ? String(id) : quote(String(id).slice(0, 50));
  const column = columns.find((each) => each.name === name)?.column;
  return `row ${shown} of ${table}: "${column}" ${reason}`;
}
