import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import type { Environment } from '../environment.ts';

/** Levels of `TODO_LOG_LEVEL`, from everything to nothing. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The service's log on standard output: JSON lines for machines in production, lines for people in
 * development. Writes are synchronous, so that the last words of a crash are not lost.
 */
export function openLog(environment: Environment, level: LogLevel): Logger {
  const output = pino.destination({ fd: 1, sync: true });
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, rewriting(output, environment === 'production' ? machineLine : personLine));
}

function rewriting(output: DestinationStream, rewrite: (line: string) => string): DestinationStream {
  return { write: (line) => output.write(rewrite(line)) };
}

/** What JSON allows in a string, and a terminal or a reader of lines may take for a command or an end. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/** The same JSON, with every control character escaped, so that none can forge a line. */
export function machineLine(line: string): string {
  return line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Turns a JSON line into `10:17:03.123 INFO  message  name=value …`, with the stack of an error below. Values are
 * JSON-quoted where they are not one plain word, so that nobody can forge a field or a line.
 */
export function personLine(line: string): string {
  const { level, time, pid: _pid, event: _event, msg, err, ...fields } = JSON.parse(line);
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${field(value)}`);
  const head = `${String(time).slice(11, 23)} ${(level as Level).toUpperCase().padEnd(5)} ${plain(msg)}`;
  const stack = err?.stack === undefined ? '' : `\n${String(err.stack).replace(UNPRINTABLE, '?')}`;
  return `${[head, ...pairs].join('  ')}${stack}\n`;
}

const UNPRINTABLE = /[^\P{C}\n]/gu;
const PLAIN_WORD = /^[^\s"=\p{C}]+$/u;

function field(value: unknown): string {
  if (typeof value === 'string' && PLAIN_WORD.test(value)) return value;
  return JSON.stringify(value).replace(UNPRINTABLE, '?');
}

function plain(message: unknown): string {
  return String(message).replace(/\p{C}/gu, '?');
}
