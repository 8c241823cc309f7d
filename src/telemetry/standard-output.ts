import { constants, openSync, writeSync } from 'node:fs';
import { errorCode, orUndefined } from '../lib/errors.ts';

/** Bytes. A pipe takes a write of up to this size as a whole or not at all (POSIX, PIPE_BUF on Linux). */
const WHOLE_WRITE = 4096;

/** Bytes of lines that wait, at most. */
const ROOM = 1_048_576;

/** Bytes of `ROOM` that only important lines may take. */
const RESERVE = 262_144;

/** Milliseconds from a full pipe to the next try. */
const FULL_RETRY_MS = 5;

/** Milliseconds from a failed write to the next try. */
const FAILED_RETRY_MS = 250;

/** Milliseconds that a slow reader gets when the process ends. */
const LAST_WORDS_MS = 1_000;

/** The treatment of a line. */
export interface Weight {
  /** Whether the line is written with others, at the end of the turn at the latest; else at once. */
  readonly mayWait: boolean;
  /** Whether the line is dropped last. */
  readonly important: boolean;
}

export type Output = ReturnType<typeof openStandardOutput>;

/** `full`: a reader has to read first. `failed`: any other refusal. */
type State = 'writing' | 'full' | 'failed';

interface Chunk {
  text: string;
  bytes: number;
  /** Bytes of `text` that are written. The rest then comes before any other line, so that no line is torn. */
  written: number;
  lines: number;
  readonly important: boolean;
}

/**
 * Standard output, which may be a file on a full disk or a pipe without a reader. A line that cannot be written is
 * dropped; while a pipe is full, lines wait for its reader, 1 MiB of them. Important lines wait in both cases. When
 * writing works again, the line that `afterDrops` makes says how many were dropped. Nothing here throws, and nothing
 * waits, but `LAST_WORDS_MS` at the end of the process.
 */
export function openStandardOutput(afterDrops: (dropped: number) => string) {
  const fd = descriptorThatRefuses();
  let waiting: Chunk[] = [];
  let room = ROOM;
  let state: State = 'writing';
  let scheduled = false;
  let dropped = 0;
  let reported = 0;

  function add(text: string, important: boolean): void {
    const bytes = Buffer.byteLength(text);
    if ((state === 'failed' && !important) || bytes > room - (important ? 0 : RESERVE)) {
      dropped += 1;
      return;
    }
    room -= bytes;
    const last = waiting.at(-1);
    if (last?.important === important && last.written === 0 && last.bytes + bytes <= WHOLE_WRITE) {
      last.text += text;
      last.bytes += bytes;
      last.lines += 1;
    } else waiting.push({ text, bytes, written: 0, lines: 1, important });
  }

  /** Writes the lines that wait, until all are out or standard output refuses. */
  function flush(): void {
    let outcome: State = 'writing';
    let out = 0;
    for (const chunk of waiting) {
      outcome = put(chunk);
      if (outcome !== 'writing') break;
      out += 1;
    }
    waiting = waiting.slice(out);
    if (outcome === 'writing' && dropped > reported) outcome = report();
    if (outcome === 'failed') waiting = waiting.filter(keeps);
    if (outcome !== 'writing')
      setTimeout(flush, outcome === 'full' ? FULL_RETRY_MS : FAILED_RETRY_MS).unref();
    state = outcome;
  }

  function put(chunk: Chunk): State {
    const { text, bytes } = chunk;
    try {
      while (chunk.written < bytes) {
        const { written } = chunk;
        const taken = written === 0 ? writeSync(fd, text) : writeSync(fd, Buffer.from(text), written);
        chunk.written += taken;
        room += taken;
      }
    } catch (error) {
      return errorCode(error) === 'EAGAIN' ? 'full' : 'failed';
    }
    return 'writing';
  }

  function report(): State {
    const text = afterDrops(dropped - reported);
    const bytes = Buffer.byteLength(text);
    const chunk = { text, bytes, written: 0, lines: 0, important: true };
    const outcome = put(chunk);
    room -= chunk.written;
    if (chunk.written === 0) return outcome;
    reported = dropped;
    if (outcome !== 'writing') {
      room -= bytes - chunk.written;
      waiting.push(chunk);
    }
    return outcome;
  }

  function keeps(chunk: Chunk): boolean {
    if (chunk.important || chunk.written > 0) return true;
    dropped += chunk.lines;
    room += chunk.bytes;
    return false;
  }

  function endTurn(): void {
    scheduled = false;
    if (state === 'writing') flush();
  }

  process.once('exit', () => {
    const end = performance.now() + LAST_WORDS_MS;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    flush();
    while (state === 'full' && performance.now() < end) {
      Atomics.wait(sleeper, 0, 0, FULL_RETRY_MS);
      flush();
    }
  });
  return {
    /** Lines dropped since the start: lines that could not be written, and lines that found no room. */
    dropped: () => dropped,

    /** @param text one or more whole lines, each with its line break. */
    write(text: string, { mayWait, important }: Weight): void {
      add(text, important);
      if (state !== 'writing') return;
      if (!mayWait || ROOM - room >= WHOLE_WRITE) flush();
      else if (!scheduled) {
        scheduled = true;
        setImmediate(endTurn);
      }
    },
  };
}

/** The descriptor of standard output, made to refuse a write that would wait for a reader (EAGAIN). */
function descriptorThatRefuses(): number {
  // Node.js sets this for a pipe or a socket at the first use of `process.stdout`, but not for a terminal.
  if (!process.stdout.isTTY) return 1;
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  return orUndefined(() => openSync('/dev/fd/1', flags)) ?? 1;
}
