import { spawnSync } from 'node:child_process';

/** One line of Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What was read: the samples, and the type of each metric. */
export interface Exposition {
  readonly samples: readonly Sample[];
  readonly types: ReadonlyMap<string, string>;
}

const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i;

/** Reads it the way Prometheus does. Throws at a line that is none, a sample without a type, and one that is there twice. */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const comment = COMMENT.exec(line);
    if (comment !== null) {
      if (comment[1] === 'TYPE') types.set(String(comment[2]), String(comment[3]));
      continue;
    }
    const sample = parseSample(line);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    const family = sample.name.replace(/_(?:bucket|sum|count)$/, '');
    if (!types.has(sample.name) && types.get(family) !== 'histogram') throw new Error(`no type: ${line}`);
    samples.push(sample);
  }
  return { samples, types };
}

function parseSample(line: string): Sample {
  const [, name = '', inside = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === '' || !NUMBER.test(value)) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < inside.length; at = LABEL.lastIndex) {
    const match = LABEL.exec(inside);
    if (match === null) throw new Error(`not labels: ${line}`);
    labels[String(match[1])] = String(match[2]);
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

/** What an admin listener tells Prometheus. */
export async function scrape(adminUrl: string): Promise<Exposition> {
  return parseExposition(await (await fetch(`${adminUrl}/metrics`)).text());
}

/** The values of the samples of that name with at least these labels. */
export function valuesOf(
  { samples }: Exposition,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number[] {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .map(({ value }) => value);
}

/** Why expressions of Prometheus cannot be judged here, for the `skip` of a test; false when they can. */
export function noPromtool(): string | false {
  if (spawnSync('promtool', ['--version']).status === 0) return false;
  return 'there is no promtool on the PATH: install it, on Debian with "apt-get install prometheus"';
}

/** Runs promtool to its end. */
export function promtool(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}
