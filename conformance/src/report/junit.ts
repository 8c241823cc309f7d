import type { Outcome } from '../hold.ts';
import type { Report } from './report.ts';
import { describeFailure } from './text.ts';

/** The XML that continuous integration reads, written when all is known. */
export function junitReport(name: string): Report {
  return {
    begin: () => '',
    outcome: () => '',
    end: (outcomes, leftOut) => {
      const groups = [...Map.groupBy(outcomes, ({ check }) => check.group)];
      const suites = groups.map(([group, all]) => suite(group, all)).join('');
      const about = `name="${escaped(name)}" ${countsOf(outcomes)}`;
      const notes = leftOut.map((clauses) => `<!-- Left out: ${clauses} -->\n`).join('');
      return `<?xml version="1.0" encoding="UTF-8"?>\n${notes}<testsuites ${about}>\n${suites}</testsuites>\n`;
    },
  };
}

function suite(group: string, outcomes: readonly Outcome[]): string {
  const cases = outcomes.map((outcome) => testCase(group, outcome)).join('');
  return `<testsuite name="${escaped(group)}" ${countsOf(outcomes)}>\n${cases}</testsuite>\n`;
}

function testCase(group: string, { check, milliseconds, failure }: Outcome): string {
  const about = `classname="${escaped(group)}" name="${escaped(check.name)}" time="${seconds(milliseconds)}"`;
  if (failure === undefined) return `<testcase ${about}/>\n`;
  const text = escaped(describeFailure(failure, ''));
  return `<testcase ${about}><failure message="${escaped(failure.message)}">${text}</failure></testcase>\n`;
}

function countsOf(outcomes: readonly Outcome[]): string {
  const failures = outcomes.filter(({ failure }) => failure !== undefined).length;
  const time = outcomes.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return `tests="${outcomes.length}" failures="${failures}" time="${seconds(time)}"`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** As XML text; a character that XML 1.0 does not have becomes U+FFFD. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
