import { parseExposition } from '../../test/operations/prometheus.ts';

/** One answer, with what differs between any two taken out. Header names as written, in their order. */
export interface WireAnswer {
  readonly statusLine: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Latin1, without chunk framing. */
  readonly body: string;
}

/** What came back on one connection. */
export interface Outcome {
  readonly answers: readonly WireAnswer[];
  /** Bytes that are no answer; usually empty. */
  readonly rest: string;
  readonly closed: boolean;
}

/** How two outcomes differ; `kind` is the same for differences of one kind. */
export interface Difference {
  readonly kind: string;
  readonly before: string;
  readonly after: string;
}

/** The trace id of every `traceparent` that is generated: what stands in a `traceId` of it is not random. */
const GIVEN = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Takes the answers of a connection apart. `ports` are those of the service, which stand in no request. */
export function readOutcome(received: string, closed: boolean, ports: readonly string[]): Outcome {
  const answers: WireAnswer[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (!rest.startsWith('HTTP/') || end === -1) return { answers, rest: plainText(rest, ports), closed };
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = lines.map(headerOf);
    const { body, length } = bodyOf(statusLine, headers, rest.slice(end + 4));
    answers.push(plain({ statusLine, headers, body }, ports));
    rest = rest.slice(end + 4 + length);
  }
}

function headerOf(line: string): readonly [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at), line.slice(at + 1).trim()];
}

/**
 * The body at the start of `text`, and how many characters it takes there (RFC 9112 §6.3): none in an answer to HEAD,
 * all that comes when neither header says where it ends.
 */
function bodyOf(
  statusLine: string,
  headers: readonly (readonly [string, string])[],
  text: string,
): { body: string; length: number } {
  if (/^HTTP\/1\.1 (?:1\d\d|204|304)/.test(statusLine) || text.startsWith('HTTP/1.1 '))
    return { body: '', length: 0 };
  const values = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
  if (values.get('transfer-encoding') !== 'chunked') {
    const body = text.slice(0, Number(values.get('content-length') ?? text.length));
    return { body, length: body.length };
  }
  let body = '';
  let at = 0;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    if (line === -1) return { body, length: at };
    const size = Number.parseInt(text.slice(at, line), 16);
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
    if (!(size > 0)) return { body, length: at };
  }
}

function plain({ statusLine, headers, body }: WireAnswer, ports: readonly string[]): WireAnswer {
  const isMetrics = body.startsWith('# HELP');
  const differing = isMetrics ? /^(?:date|content-length)$/i : /^date$/i;
  return {
    statusLine,
    headers: headers.map(([name, value]) => [name, differing.test(name) ? 'its own' : value]),
    body: isMetrics ? namesOf(body) : plainText(body, ports),
  };
}

function plainText(body: string, ports: readonly string[]): string {
  const traceless = body.replaceAll(/"traceId":"00-([0-9a-f]{32})-[0-9a-f]{16}-/g, (_, trace) =>
    trace === GIVEN ? '"traceId":"00-given-span-' : '"traceId":"00-new-span-',
  );
  return ports.reduce((text, port) => text.replaceAll(`:${port}`, ':port'), traceless);
}

/** Metrics without their values, which nobody can compare. */
function namesOf(exposition: string): string {
  const { samples } = parseExposition(exposition);
  return samples
    .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
    .sort()
    .join('\n');
}

/** Every difference between two outcomes; a differing number of answers hides all others. */
export function differencesOf(before: Outcome, after: Outcome): Difference[] {
  const differences: Difference[] = [];
  const compare = (kind: string, one: string, other: string) => {
    if (one !== other) differences.push({ kind, before: one, after: other });
  };
  const lines = ({ answers }: Outcome) => answers.map(({ statusLine }) => statusLine).join(', ');
  if (before.answers.length !== after.answers.length) {
    const counts = `${before.answers.length} answers → ${after.answers.length}`;
    return [{ kind: counts, before: lines(before), after: lines(after) }];
  }
  compare('what is no answer', before.rest, after.rest);
  compare('closing', `closed: ${before.closed}`, `closed: ${after.closed}`);
  for (const [index, one] of before.answers.entries()) {
    const other = after.answers[index];
    if (other !== undefined) differences.push(...answerDifferences(one, other));
  }
  return differences;
}

function answerDifferences(before: WireAnswer, after: WireAnswer): Difference[] {
  const differences: Difference[] = [];
  if (before.statusLine !== after.statusLine) {
    const kind = `status ${before.statusLine} → ${after.statusLine}`;
    return [{ kind, before: before.body.slice(0, 500), after: after.body.slice(0, 500) }];
  }
  const of = `of ${before.statusLine.slice(9)}`;
  const names = (answer: WireAnswer) => answer.headers.map(([name]) => name);
  const [one, other] = [names(before), names(after)];
  for (const name of one.filter((name) => !other.includes(name))) {
    differences.push({ kind: `header ${name} missing ${of}`, before: valuesOf(before, name), after: '' });
  }
  for (const name of other.filter((name) => !one.includes(name))) {
    differences.push({ kind: `header ${name} added ${of}`, before: '', after: valuesOf(after, name) });
  }
  if (differences.length === 0 && one.join() !== other.join()) {
    differences.push({ kind: `order of headers ${of}`, before: one.join(', '), after: other.join(', ') });
  }
  for (const name of new Set(one.filter((name) => other.includes(name)))) {
    const [value, now] = [valuesOf(before, name), valuesOf(after, name)];
    if (value !== now) differences.push({ kind: `value of ${name} ${of}`, before: value, after: now });
  }
  if (before.body !== after.body) {
    differences.push({ kind: `body ${of}`, ...apart(before.body, after.body) });
  }
  return differences;
}

function valuesOf({ headers }: WireAnswer, wanted: string): string {
  return headers
    .filter(([name]) => name === wanted)
    .map(([, value]) => value)
    .join(' | ');
}

/** Both texts around the first character in which they differ. */
function apart(before: string, after: string): { before: string; after: string } {
  let at = 0;
  while (before[at] === after[at]) at += 1;
  const from = Math.max(0, at - 80);
  return { before: before.slice(from, at + 200), after: after.slice(from, at + 200) };
}
