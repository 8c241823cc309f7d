import { type Clause, clausesOf } from '../clause.ts';
import type { Failure, Outcome } from '../hold.ts';
import type { Law } from '../problem.ts';
import type { Report } from './report.ts';

/** For people: a line for each check, what was expected and received where one fails, a summary by chapter. */
export function textReport(name: string, law: Law): Report {
  return {
    begin: () => `${name}\n`,
    outcome: ({ check, failure }) =>
      failure === undefined
        ? `  ok    ${check.name}\n`
        : `  FAIL  ${check.name}\n${describeFailure(failure, '        ')}`,
    end: (outcomes, leftOut) => {
      const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
      const checks = `${outcomes.length} checks, ${outcomes.length - failed} passed, ${failed} failed`;
      const missing = leftOut.length === 0 ? '' : `Left out: ${leftOut.join('; ')}\n`;
      return `\n${summary(outcomes, law)}\n${missing}${checks}\n`;
    },
  };
}

/** What went wrong, each line after `indent`. */
export function describeFailure({ message, expected, received, lastAsked }: Failure, indent: string): string {
  const parts = [
    message,
    ...(expected === undefined ? [] : [`expected  ${expected}`]),
    ...(received === undefined ? [] : [`received  ${received}`]),
    ...(lastAsked === undefined ? [] : [`asked     ${lastAsked}`]),
  ];
  const lines = parts.flatMap((part) =>
    part.split('\n').map((line, at) => (at === 0 ? line : `          ${line}`)),
  );
  return lines
    .map((line) => `${indent}${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}

/** Checks that passed and all of them, by chapter; one that shows clauses of several chapters counts in each. */
function summary(outcomes: readonly Outcome[], law: Law): string {
  const rows = outcomes.flatMap((outcome) => {
    const clauses = clausesOf(outcome.check.name).filter(
      (clause) => law === 'contract' || clause.law === law,
    );
    const chapters = new Map(clauses.map((clause) => [keyOf(clause), clause]));
    return [...chapters.values()].map((clause) => ({ clause, outcome }));
  });
  const laws = Map.groupBy(rows, ({ clause }) => clause.law);
  const lines = [...laws].flatMap(([one, ofLaw]) => [
    one === 'specification' ? 'Specification' : 'Contract',
    ...[...Map.groupBy(ofLaw, ({ clause }) => clause.chapter)].map(([chapter, all]) => {
      const passed = all.filter(({ outcome }) => outcome.failure === undefined).length;
      return `  ${passed === all.length ? 'ok  ' : 'FAIL'}  ${chapter.padEnd(36)}${passed} of ${all.length}`;
    }),
  ]);
  return lines.join('\n').concat('\n');
}

function keyOf({ law, chapter }: Clause): string {
  return `${law} ${chapter}`;
}
