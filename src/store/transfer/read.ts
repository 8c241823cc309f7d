import { createHash } from 'node:crypto';
import { parseJson } from '../../parse-json.ts';
import type { Category } from '../operator.ts';
import type { Contents, Counts, KeptKey, ParsedTodo, Rows } from './contents.ts';
import { assertLine, CATEGORY, END, HEAD, KEY, LineRefused, secondsOf, TODO } from './lines.ts';

/** Bytes. A title of 100 characters takes 1,200 when all of it is escaped. */
const LONGEST_LINE = 8_192;

const LF = 0x0a;

/** What was read is no export, or not all of one. The message is one line for people. */
export class NotAnExport extends Error {
  override readonly name = 'NotAnExport';
}

/**
 * Reads an export and hands its rows on as they come, in parts. Each row is sound by itself. That all are there, and as
 * they were written, is known when the promise resolves.
 *
 * @throws {NotAnExport} with the line. What reading or `onRows` throws is thrown again.
 */
export async function readExport(
  chunks: AsyncIterable<Uint8Array>,
  onRows: (rows: Rows) => Promise<void>,
): Promise<Contents> {
  const reader = new ExportReader();
  let rest: Uint8Array = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, from)) {
      reader.take(bytes.subarray(from, end + 1));
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > LONGEST_LINE) reader.take(rest);
    await onRows(reader.rows());
  }
  return reader.end(rest.length);
}

/** Which line is what follows from the counts in the first one. */
class ExportReader {
  readonly #sha256 = createHash('sha256');
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #categoryIds = new Set<number>();
  /** Without a count of keys there are none. */
  #head: (Counts & { readonly highestId: number | undefined }) | undefined;
  #line = 0;
  #read = { categories: 0, todos: 0, keys: 0 };
  #lastId = 0;
  #lastKey = '';
  #highestId = 0;
  #highestCategoryId = 0;
  #complete = false;
  #rows: { categories: Category[]; todos: ParsedTodo[]; keys: KeptKey[] } = noRows();

  /** @param bytes A line with its line break, or the beginning of one that is too long. */
  take(bytes: Uint8Array): void {
    this.#line += 1;
    try {
      if (bytes.length > LONGEST_LINE) throw new LineRefused(`it must have at most ${LONGEST_LINE} bytes`);
      this.#put(this.#parse(bytes));
      if (!this.#complete) this.#sha256.update(bytes);
    } catch (error) {
      if (error instanceof LineRefused) throw new NotAnExport(`line ${this.#line}: ${error.message}`);
      throw error;
    }
  }

  /** What was taken since the last call. */
  rows(): Rows {
    const rows = this.#rows;
    this.#rows = noRows();
    return rows;
  }

  /** @param rest How many bytes follow the last line break. */
  end(rest: number): Contents {
    if (this.#head === undefined || !this.#complete || rest > 0) {
      const where = rest > 0 ? 'within' : 'before';
      throw new NotAnExport(`it ends ${where} line ${this.#line + 1}, so it was cut off`);
    }
    const highestId = this.#head.highestId ?? this.#highestId;
    return { ...this.#head, highestId, highestCategoryId: this.#highestCategoryId };
  }

  #parse(bytes: Uint8Array): unknown {
    const parsed = parseJson(this.#decode(bytes), { uniqueNames: true });
    if ('value' in parsed) return parsed.value;
    throw new LineRefused(`it is not JSON, column ${parsed.fault.column}: ${parsed.fault.problem}`);
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#utf8.decode(bytes.subarray(0, bytes.at(-1) === LF ? -1 : undefined));
    } catch {
      throw new LineRefused('it must be UTF-8');
    }
  }

  #put(line: unknown): void {
    const head = this.#head;
    if (head === undefined) this.#putHead(line);
    else if (this.#read.categories < head.categories) this.#putCategory(line);
    else if (this.#read.todos < head.todos) this.#putTodo(line);
    else if (this.#read.keys < head.keys) this.#putKey(line);
    else this.#putEnd(line);
  }

  #putHead(line: unknown): void {
    assertLine(line, HEAD);
    const { categories, todos, keys = 0, highestId } = line;
    this.#head = { categories, todos, keys, highestId };
  }

  #putCategory(line: unknown): void {
    assertLine(line, CATEGORY);
    if (line.id <= this.#highestCategoryId)
      throw new LineRefused(`"id" must be above ${this.#highestCategoryId}, received ${line.id}`);
    this.#highestCategoryId = line.id;
    this.#categoryIds.add(line.id);
    this.#read.categories += 1;
    this.#rows.categories.push(line);
  }

  #putTodo(line: unknown): void {
    assertLine(line, TODO);
    if (line.id <= this.#lastId)
      throw new LineRefused(`"id" must be above ${this.#lastId}, received ${line.id}`);
    if (!this.#categoryIds.has(line.categoryId))
      throw new LineRefused(`"categoryId" must be one of the categories above, received ${line.categoryId}`);
    this.#lastId = line.id;
    this.#noteId('id', line.id);
    this.#read.todos += 1;
    this.#rows.todos.push(line);
  }

  #putKey(line: unknown): void {
    assertLine(line, KEY);
    if (line.key <= this.#lastKey)
      throw new LineRefused('"key" must come after that of the line before, in the order of ASCII');
    this.#lastKey = line.key;
    this.#noteId('todoId', line.todoId);
    this.#read.keys += 1;
    this.#rows.keys.push({ ...line, at: secondsOf(line.at) });
  }

  #putEnd(line: unknown): void {
    if (this.#complete) throw new LineRefused('nothing may follow the line with the SHA-256');
    assertLine(line, END);
    if (line.sha256 !== this.#sha256.digest('hex'))
      throw new LineRefused('the lines before it are not what was written: they have another SHA-256');
    this.#complete = true;
  }

  #noteId(member: string, id: number): void {
    const most = this.#head?.highestId;
    if (most !== undefined && id > most)
      throw new LineRefused(`"${member}" must be at most ${most}, the "highestId" of line 1, received ${id}`);
    this.#highestId = Math.max(this.#highestId, id);
  }
}

function noRows(): { categories: Category[]; todos: ParsedTodo[]; keys: KeptKey[] } {
  return { categories: [], todos: [], keys: [] };
}
