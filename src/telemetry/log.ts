import { fstatSync } from 'node:fs';
import { styleText } from 'node:util';
import { type Level, type Logger, pino } from 'pino';
import { EVENTS, type LogEvent } from '../events.ts';
import { escapeHidden } from '../lib/quote.ts';
import type { Environment, LogLevel } from '../settings/table.ts';
import { type Output, openStandardOutput, type Weight } from './standard-output.ts';

/** Levels as pino counts them. */
const INFO = 30;
const ERROR = 50;

/**
 * The service's log on standard output: JSON lines for machines in production, lines for people in development. A line is
 * written at once, so that the last lines before a crash are not lost; lines of level debug and trace, and those about
 * todos, are written together, at the end of their turn of the event loop at the latest. No fault of standard output
 * reaches the code that writes a line.
 *
 * @param journalStream `JOURNAL_STREAM`, systemd.exec(5): the device and inode of the journal's stream. Lines that go
 * there begin with their level (contract D15).
 */
export function openLog(
  environment: Environment,
  level: LogLevel,
  journalStream?: string,
): { log: Logger; output: Output } {
  // A terminal gets colours, unless `NO_COLOR` or `TERM=dumb` says otherwise; a file and a pipe get none.
  const coloured = process.stdout.isTTY && process.stdout.hasColors();
  const asText = environment === 'production' ? visible : (line: string) => personLine(line, coloured);
  const rewrite = isStandardOutput(journalStream)
    ? (line: string) => withPriority(asText(line), line)
    : asText;
  const output = openStandardOutput((dropped) => rewrite(warning(dropped)));
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: timeByMillisecond(),
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const stream = {
    // With this member, pino sets `lastLevel` and `lastObj`.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: INFO,
    lastObj: {},
    write(line: string) {
      output.write(rewrite(line), weightOf(this.lastLevel, this.lastObj));
    },
  };
  return { log: pino(options, stream), output };
}

/** Milliseconds in which each reason of refusals has one line, and how many reasons have one: strangers choose them. */
const REFUSALS_MS = 60_000;
const MOST_REASONS = 30;

/**
 * Writes events as lines of a log.
 *
 * @param audit False: no lines about todos (docs/logging.md, Who changed what).
 * @param now Milliseconds of a clock that never goes back.
 */
export function eventLogger(log: Logger, audit = true, now = () => performance.now()): LogEvent {
  const reasons = new Set<string>();
  let until = 0;

  /** Whether nothing with this reason has had a line in the minute under way. */
  function isFirst(reason: string): boolean {
    if (now() >= until) {
      reasons.clear();
      until = now() + REFUSALS_MS;
    }
    if (reasons.has(reason) || reasons.size === MOST_REASONS) return false;
    reasons.add(reason);
    return true;
  }

  return (event, { level, message } = {}) => {
    if (!audit && event.event.startsWith('todo-')) return;
    const kind = EVENTS[event.event];
    const reason = kind.reason?.map((member: string) => Reflect.get(event, member));
    const isRepeated = reason !== undefined && !isFirst([event.event, ...reason].join());
    log[level ?? (isRepeated ? 'debug' : kind.level)](event, message ?? filled(kind.message, event));
  };
}

function filled(message: string, fields: Readonly<Record<string, unknown>>): string {
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields[name]));
}

/** The line after lines were dropped. It is written at every level, and past the log that dropped them. */
function warning(dropped: number): string {
  const event = 'log-lines-dropped';
  const { level, message } = EVENTS[event];
  const time = new Date().toISOString();
  return `${JSON.stringify({ level, time, pid: process.pid, event, dropped, msg: message })}\n`;
}

/**
 * The weight of a line. Lines that come by the thousand may wait: a system call for each would cost more than making it.
 * Crashes and changes of todos are important; refused writes are not, since any caller with a token can send a flood.
 */
function weightOf(level: number, { event = '' }: { readonly event?: string }): Weight {
  const isAboutTodos = event.startsWith('todo-');
  return {
    mayWait: level < INFO || isAboutTodos,
    important: level >= ERROR || (isAboutTodos && event !== 'todo-write-refused'),
  };
}

/** `pino.stdTimeFunctions.isoTime`, made once for all lines of a millisecond. */
function timeByMillisecond(): () => string {
  let made = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== made) {
      made = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function isStandardOutput(stream: string | undefined): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(1, { bigint: true });
  return stream === `${dev}:${ino}`;
}

/** Levels as the journal counts them. */
const PRIORITIES: Readonly<Record<string, number>> = { fatal: 2, error: 3, warn: 4, info: 6 };

/** Begins each line of a text with the level of its JSON line, which the journal takes off, sd-daemon(3). */
function withPriority(text: string, line: string): string {
  const level = /^\{"level":"(\w+)"/.exec(line)?.[1] ?? '';
  return text.replaceAll(/^(?=.)/gm, `<${PRIORITIES[level] ?? 7}>`);
}

/** The style of a level, or of a status by its first digit. */
const STYLES: Readonly<Record<string, 'red' | 'yellow' | 'green' | 'gray' | 'cyan'>> = {
  ...{ fatal: 'red', error: 'red', warn: 'yellow', info: 'green', debug: 'gray', trace: 'gray' },
  ...{ 2: 'green', 3: 'cyan', 4: 'yellow', 5: 'red' },
};

/**
 * Turns a JSON line into `10:17:03.123 INFO  message  name=value …`, with the stack of an error below. Values are
 * JSON-quoted where they are not one plain word, so that no client can forge a field or a line.
 */
export function personLine(line: string, coloured = false): string {
  const { level, time, pid: _pid, event: _event, msg, err, ...fields } = JSON.parse(line);
  const look = (text: string, kind: string) => {
    const style = coloured ? STYLES[kind] : undefined;
    return style === undefined ? text : styleText(style, text, { validateStream: false });
  };
  const pairs = Object.entries(fields).map(([name, value]) => {
    const pair = `${name}=${field(value)}`;
    return name === 'status' ? look(pair, String(value).slice(0, 1)) : pair;
  });
  const shownLevel = look((level as Level).toUpperCase().padEnd(5), level);
  const head = `${String(time).slice(11, 23)} ${shownLevel} ${plain(msg)}`;
  const stack = err?.stack === undefined ? '' : `\n${visible(String(err.stack))}`;
  return `${[head, ...pairs].join('  ')}${stack}\n`;
}

const PLAIN_WORD = /^[^\s"=]+$/;

function field(value: unknown): string {
  if (typeof value === 'string' && PLAIN_WORD.test(value) && visible(value) === value) return value;
  return visible(JSON.stringify(value));
}

function plain(message: unknown): string {
  return visible(String(message)).replaceAll('\n', '\\n');
}

const NOT_PRINTABLE_ASCII = /[^\n -~]/;

/** As `escapeHidden`, which most texts do not need. */
function visible(text: string): string {
  return NOT_PRINTABLE_ASCII.test(text) ? escapeHidden(text) : text;
}
