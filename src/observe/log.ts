import { type DestinationStream, type Level, type Logger, pino } from 'pino';

/** Levels of `TODO_LOG_LEVEL`, from everything to nothing. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The service's log on standard output: JSON lines for machines in production, lines for people in
 * development. Writes are synchronous, so that the last words of a crash are not lost.
 */
export function openLog(environment: 'development' | 'production', level: LogLevel): Logger {
  const output = pino.destination({ fd: 1, sync: true });
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, environment === 'production' ? output : forPeople(output));
}

/** Turns each JSON line into `10:17:03.123 INFO  message  name=value …`, with the stack of an error below. */
function forPeople(output: DestinationStream): DestinationStream {
  return { write: (line: string) => output.write(personLine(line)) };
}

/** Values are JSON-quoted where they are not plain, so that control characters cannot forge a line. */
export function personLine(line: string): string {
  const { level, time, pid: _pid, event: _event, msg, err, ...fields } = JSON.parse(line);
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
  const head = `${String(time).slice(11, 23)} ${(level as Level).toUpperCase().padEnd(5)} ${plain(msg)}`;
  const stack = err?.stack === undefined ? '' : `\n${String(err.stack).replace(UNPRINTABLE, '?')}`;
  return `${[head, ...pairs].join('  ')}${stack}\n`;
}

const UNPRINTABLE = /[^\P{C}\n]/gu;

function plain(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /\p{C}/u.test(value) ? JSON.stringify(value).replace(UNPRINTABLE, '?') : value;
}
