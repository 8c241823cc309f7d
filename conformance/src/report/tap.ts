import type { Report } from './report.ts';
import { describeFailure } from './text.ts';

/** The Test Anything Protocol, version 14. */
export function tapReport(name: string): Report {
  return {
    begin: (checks) => `TAP version 14\n# ${name}\n1..${checks}\n`,
    outcome: ({ check, milliseconds, failure }, index) => {
      const line = `${failure === undefined ? 'ok' : 'not ok'} ${index + 1} - ${escaped(check.name)}\n`;
      if (failure === undefined) return line;
      const text = describeFailure(failure, '    ');
      return `${line}  ---\n  duration_ms: ${milliseconds.toFixed(3)}\n  message: |-\n${text}  ...\n`;
    },
    end: (_, leftOut) => leftOut.map((clauses) => `# Left out: ${clauses}\n`).join(''),
  };
}

/** `#` begins a directive. */
function escaped(name: string): string {
  return name.replaceAll(/[\\#]/g, (character) => `\\${character}`);
}
