import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import type { Call } from '../http/message/call.ts';

/**
 * Who changed what: a line at level info for each change that was made, may have been made, or was refused for its
 * role. Never a title. A handler says what happened as soon as it knows: SQLite's outcomes arrive in the order of its
 * commits, and so do the lines.
 */
export interface Audit {
  created(call: Call, id: number): void;
  replaced(call: Call): void;
  deleted(call: Call): void;
  /** In the error demo, which knows no callers. */
  completed(call: Call): void;
  /** Nobody knows whether the change was made (contract D9). */
  outcomeUnknown(call: Call): void;
  /** 403: the caller may not write. */
  writeRefused(call: Call, identity: Identity): void;
}

/** Code points of a subject or a name that a line shows. */
const MAX_SHOWN = 200;

/** @param kept False: no line is written. */
export function openAudit(log: Logger, kept: boolean): Audit {
  if (!kept || !log.isLevelEnabled('info')) return SILENT;
  return {
    created({ identity, traceId }, id) {
      const { subject, name } = shown(identity);
      log.info({ event: 'todo-created', id, subject, name, traceId }, 'a todo was created');
    },
    replaced({ id, identity, traceId }) {
      const { subject, name } = shown(identity);
      log.info({ event: 'todo-replaced', id, subject, name, traceId }, 'a todo was replaced');
    },
    deleted({ id, identity, traceId }) {
      const { subject, name } = shown(identity);
      log.info({ event: 'todo-deleted', id, subject, name, traceId }, 'a todo was deleted');
    },
    completed({ id, traceId }) {
      log.info({ event: 'todo-completed', id, traceId }, 'a todo was completed');
    },
    outcomeUnknown({ method, found, identity, traceId }) {
      const { subject, name } = shown(identity);
      const id = found?.id;
      log.info({ event: 'todo-outcome-unknown', method, id, subject, name, traceId }, UNKNOWN);
    },
    writeRefused({ method, found, traceId }, identity) {
      const { subject, name } = shown(identity);
      const id = found?.id;
      log.info({ event: 'todo-write-refused', method, id, subject, name, traceId }, 'a caller may not write');
    },
  };
}

const UNKNOWN = 'it is unknown whether a change was made';

const SILENT: Audit = {
  created() {},
  replaced() {},
  deleted() {},
  completed() {},
  outcomeUnknown() {},
  writeRefused() {},
};

function shown({ caller, name }: Identity) {
  const subject = caller === null ? null : cut(caller[1]);
  return { subject, name: name === null ? null : cut(name) };
}

/** A code point has two units at most. */
function cut(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  return [...text.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('');
}
