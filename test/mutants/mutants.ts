import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

/** One small change of a file. */
export interface Mutant {
  /** Its number in the instrumented files. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly before: string;
  readonly after: string;
  /** The line where it begins, by which it is found again after other lines have moved. */
  readonly context: string;
  /** The whole file with the change; undefined when that cannot be parsed. */
  readonly text: () => string | undefined;
}

/** The mutants of some files, and these files with marks that tell which mutants a test reaches. */
export interface Mutants {
  readonly mutants: readonly Mutant[];
  readonly marked: ReadonlyMap<string, string>;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is used of `@stryker-mutator/instrumenter`, which is not there when the types are checked. */
interface Stryker {
  Instrumenter: new (
    logger: Readonly<Record<'debug' | 'info' | 'warn', () => void>> & { isDebugEnabled(): boolean },
  ) => {
    instrument(
      files: readonly { name: string; content: string; mutate: true }[],
      options: object,
    ): Promise<{
      readonly files: readonly { readonly name: string; readonly content: string }[];
      readonly mutants: readonly {
        readonly id: string;
        readonly fileName: string;
        readonly mutatorName: string;
        readonly replacement: string;
        readonly location: { readonly start: Position; readonly end: Position };
      }[];
    }>;
  };
}

interface Mutator {
  readonly name: string;
  mutate(path: {
    isExpressionStatement(): boolean;
    readonly parent: { readonly type: string; readonly body: { readonly length: number } };
  }): Iterable<{ readonly type: string }>;
}

/** Leaves out a statement whose value nobody reads: a call, an assignment. A block of one statement is emptied by Stryker's own. */
const withoutStatement: Mutator = {
  name: 'Statement',
  *mutate(path) {
    const isOnly = path.parent.type === 'BlockStatement' && path.parent.body.length === 1;
    if (path.isExpressionStatement() && !isOnly) yield { type: 'EmptyStatement' };
  },
};

/** Kinds that replace a statement: others replace an expression, and stand in parentheses. */
const STATEMENTS = ['BlockStatement', withoutStatement.name];

const PACKAGE = fileURLToPath(import.meta.resolve('./node_modules/@stryker-mutator/instrumenter/dist/src/'));

/** @param reached The file to which a marked file adds the numbers of the mutants that were reached, one a line. */
export async function makeMutants(files: readonly string[], reached: string): Promise<Mutants> {
  const { Instrumenter }: Stryker = await import(`${PACKAGE}index.js`);
  const { allMutators }: { allMutators: Mutator[] } = await import(`${PACKAGE}mutators/index.js`);
  if (!allMutators.includes(withoutStatement)) allMutators.push(withoutStatement);
  const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };
  const options = { plugins: [], ignorers: [], excludedMutations: [], noHeader: true };
  const texts = new Map(files.map((name) => [name, readFileSync(name, 'utf8')]));
  const made = await new Instrumenter(silent).instrument(
    Array.from(texts, ([name, content]) => ({ name, content, mutate: true })),
    options,
  );
  const mutants = made.mutants.map(({ id, fileName: file, mutatorName: kind, replacement, location }) => {
    const original = texts.get(file) ?? '';
    const [start, end] = [offsetOf(original, location.start), offsetOf(original, location.end)];
    const place = (after: string) => original.slice(0, start) + after + original.slice(end);
    const texts_ = STATEMENTS.includes(kind) ? [replacement] : [`(${replacement})`, replacement];
    return {
      id,
      file,
      line: location.start.line + 1,
      kind,
      before: original.slice(start, end),
      after: replacement,
      context: original.split('\n')[location.start.line]?.trim() ?? '',
      text: () => texts_.map(place).find(isParsed),
    };
  });
  const marked = made.files.map(({ name, content }) => [name, marksTo(reached) + content] as const);
  return { mutants, marked: new Map(marked) };
}

function offsetOf(text: string, { line, column }: Position): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed += 1) offset = text.indexOf('\n', offset) + 1;
  return offset + column;
}

function isParsed(text: string): boolean {
  try {
    stripTypeScriptTypes(text);
    return true;
  } catch {
    return false;
  }
}

/** The functions that Stryker's marks call. A process that may not write the file is one of another user's. */
function marksTo(reached: string): string {
  return `function stryMutAct_9fa48() { return false; }
function stryCov_9fa48(...ids) {
  const seen = (globalThis.stryker_9fa48 ??= new Set());
  const fresh = ids.filter((id) => !seen.has(id));
  if (fresh.length === 0) return;
  for (const id of fresh) seen.add(id);
  try {
    process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(reached)}, fresh.join('\\n') + '\\n');
  } catch {}
}
`;
}
