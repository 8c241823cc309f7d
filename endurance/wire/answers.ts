import { TRACE_ID } from '../../test/operations/hostile-values.ts';
import { parseExposition } from '../../test/operations/prometheus.ts';

/** What came back on one connection. */
export interface Outcome {
  /** Latin1, without what differs between any two. */
  readonly answers: readonly string[];
  readonly closed: boolean;
}

/** How two outcomes differ; `kind` is the same for differences of one kind. */
export interface Difference {
  readonly kind: string;
  readonly before: string;
  readonly after: string;
}

/** @param ports of the service, which stand in no request. */
export function readOutcome(received: string, closed: boolean, ports: readonly string[]): Outcome {
  const answers = received.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => plain(answer, ports));
  return { answers: answers.filter((answer) => answer !== ''), closed };
}

/** An answer without its date, what is random of a trace id unless a request gave it, ports, and the values of metrics. */
function plain(answer: string, ports: readonly string[]): string {
  const text = answer
    .replace(/(?<=^date: ).*$/im, 'its own')
    .replaceAll(/"traceId":"00-([0-9a-f]{32})-[0-9a-f]{16}-/g, (_, trace) =>
      trace === TRACE_ID ? '"traceId":"00-given-span-' : '"traceId":"00-new-span-',
    );
  const [head = '', exposition] = text.split(/(?<=\r\n\r\n)(?=# HELP)/);
  const comparable =
    exposition === undefined
      ? text
      : head.replace(/(?<=^Content-Length: ).*$/im, 'its own') + namesOf(exposition);
  return ports.reduce((all, port) => all.replaceAll(`:${port}`, ':port'), comparable);
}

function namesOf(exposition: string): string {
  const { samples } = parseExposition(exposition);
  return samples
    .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
    .sort()
    .join('\n');
}

/** The status line of an answer without its protocol. */
export function statusOf(answer: string): string {
  return (answer.split('\r\n', 1)[0] ?? '').slice(9);
}

/** Every difference between two outcomes; a differing status hides all others. */
export function differencesOf(before: Outcome, after: Outcome): readonly Difference[] {
  const [was, is] = [before, after].map(({ answers }) => answers.map(statusOf).join(', '));
  if (was !== is)
    return [
      { kind: `status ${was} → ${is}`, before: before.answers.join(''), after: after.answers.join('') },
    ];
  const [parts, others] = [partsOf(before), partsOf(after)];
  return [...new Set([...parts.keys(), ...others.keys()])].flatMap((name) => {
    const [part = '', other = ''] = [parts.get(name), others.get(name)];
    return part === other ? [] : [{ kind: name.replace(/^\d+ /, ''), ...apart(part, other) }];
  });
}

/** What stands in each header of each answer, the order of headers, and the bodies, by the answer's number and what it is. */
function partsOf({ answers, closed }: Outcome): ReadonlyMap<string, string> {
  const parts = new Map([['closing', `closed: ${closed}`]]);
  for (const [index, answer] of answers.entries()) {
    const keep = (part: string, value: string) => {
      const name = `${index} ${part} of ${statusOf(answer)}`;
      parts.set(name, `${parts.get(name) ?? ''}${value}\n`);
    };
    const [head = '', ...body] = answer.split('\r\n\r\n');
    for (const line of head.split('\r\n').slice(1)) {
      const [header = ''] = line.split(':', 1);
      keep(`header ${header}`, line);
      keep('order of headers', header);
    }
    keep('body', body.join('\r\n\r\n'));
  }
  return parts;
}

/** Both texts around the first character in which they differ. */
function apart(before: string, after: string): { before: string; after: string } {
  let at = 0;
  while (before[at] === after[at]) at += 1;
  const from = Math.max(0, at - 80);
  return { before: before.slice(from, at + 200), after: after.slice(from, at + 200) };
}
