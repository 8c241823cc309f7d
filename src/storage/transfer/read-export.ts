import { createHash } from 'node:crypto';
import { orUndefined } from '../../lib/errors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { isJsonObject, parseJson } from '../../lib/parse-json.ts';
import { MAX_ID, MEMBERS, type Obeying, type Rules } from '../../shared-list/members.ts';
import type { Category } from '../maintenance.ts';
import { type Contents, type KeptKey, PART_SIZE, type ParsedTodo, type Rows } from './contents.ts';
import { CATEGORY, END, HEAD, KEY, secondsOf, TODO } from './lines.ts';
import { type Fault, judge, openRelations } from './rules.ts';

/** Bytes. A character of a text takes 12 when it is escaped; the rest of a line takes far fewer than 1,024. */
const LONGEST_LINE = Math.max(
  8_192,
  MEMBERS.reduce((sum, row) => sum + ('maxLength' in row ? 12 * row.maxLength : 0), 1_024),
);

const LF = 0x0a;

/** The given file cannot be read, or is no sound backup. The message is one line for people. */
export class BackupRefused extends OperatorError {
  override readonly name = 'BackupRefused';
}

const unsound = (message: string): BackupRefused => new BackupRefused('bad-data', message);

/**
 * Reads an export and hands its rows on as they come, in parts. Each row is sound by itself. The promise resolves when
 * all rows are there and unchanged.
 *
 * @throws {BackupRefused} with the line. Errors of reading or of `onRows` are thrown again.
 */
export async function readExport(
  chunks: AsyncIterable<Uint8Array>,
  onRows: (rows: Rows) => Promise<void>,
): Promise<Contents> {
  await using lines = linesOf(chunks);
  const sha256 = createHash('sha256');
  let number = 0;

  /** The next line; undefined after the last one. */
  async function nextBytes(): Promise<Uint8Array | undefined> {
    const { value } = await lines.next();
    number += 1;
    if (value !== undefined && value.at(-1) !== LF && value.length <= LONGEST_LINE) throw cutOff('within');
    return value;
  }

  async function next<Of extends Rules>(rules: Of): Promise<Obeying<Of>> {
    const bytes = await nextBytes();
    if (bytes === undefined) throw cutOff('before');
    sha256.update(bytes);
    return lineOf(parseLine(bytes, wrong), rules, wrong);
  }

  const wrong: Wrong = (fault) => unsound(`line ${number}: ${fault}`);
  const cutOff = (where: 'within' | 'before') =>
    unsound(`it ends ${where} line ${number}, so it was cut off`);

  const { categories, todos, keys = 0, highestId: most } = await next(HEAD);
  const relations = openRelations(most ?? MAX_ID);
  const check = (fault: Fault | undefined): void => {
    if (fault !== undefined) throw wrong(sentenceOf(fault));
  };
  let part = noRows();
  const handOn = (): Promise<void> => {
    const rows = part;
    part = noRows();
    return onRows(rows);
  };

  for (let read = 0; read < categories; read += 1) {
    const line = await next(CATEGORY);
    check(relations.ofCategory(line));
    if (part.categories.push(line) === PART_SIZE) await handOn();
  }
  for (let read = 0; read < todos; read += 1) {
    const line = await next(TODO);
    check(relations.ofTodo(line));
    if (part.todos.push(line) === PART_SIZE) await handOn();
  }
  for (let read = 0; read < keys; read += 1) {
    const line = await next(KEY);
    check(relations.ofKey(line));
    if (part.keys.push({ ...line, at: secondsOf(line.at) }) === PART_SIZE) await handOn();
  }
  await handOn();

  const written = sha256.copy().digest('hex');
  if ((await next(END)).sha256 !== written)
    throw wrong('the lines before it are not what was written: they have another SHA-256');
  if ((await nextBytes()) !== undefined) throw wrong('nothing may follow the line with the SHA-256');
  const { highestId, highestCategoryId } = relations.known;
  return { categories, todos, keys, highestId: most ?? highestId, highestCategoryId };
}

function noRows(): { categories: Category[]; todos: ParsedTodo[]; keys: KeptKey[] } {
  return { categories: [], todos: [], keys: [] };
}

/** Lines with their line breaks; also a rest without one, and the beginning of a line that is too long. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let rest: Uint8Array = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, from)) {
      yield bytes.subarray(from, end + 1);
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > LONGEST_LINE) yield rest;
  }
  if (rest.length > 0) yield rest;
}

/** Makes the refusal of the line at hand, of a part of a sentence for people. */
type Wrong = (fault: string) => BackupRefused;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseLine(bytes: Uint8Array, wrong: Wrong): unknown {
  if (bytes.length > LONGEST_LINE) throw wrong(`it must have at most ${LONGEST_LINE} bytes`);
  const text = orUndefined(() => UTF8.decode(bytes.subarray(0, -1)));
  if (text === undefined) throw wrong('it must be UTF-8');
  const parsed = parseJson(text, { uniqueNames: true });
  if ('value' in parsed) return parsed.value;
  throw wrong(`it is not JSON, column ${parsed.fault.column}: ${parsed.fault.problem}`);
}

/** The members of a line of this kind. Throws when it is none, or has further members. */
function lineOf<Of extends Rules>(value: unknown, rules: Of, wrong: Wrong): Obeying<Of> {
  if (!isJsonObject(value)) throw wrong('it must be a JSON object');
  const judged = judge(value, rules);
  if ('fault' in judged) throw wrong(sentenceOf(judged.fault));
  const unknown = Object.keys(value).find((sent) => rules.every(({ name }) => name !== sent));
  if (unknown !== undefined) throw wrong(`there must be no member ${JSON.stringify(unknown.slice(0, 50))}`);
  return judged.obeying;
}

const sentenceOf = ([name, reason]: Fault): string => `"${name}" ${reason}`;
