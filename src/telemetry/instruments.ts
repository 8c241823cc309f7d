import { Counter, Gauge, type Registry } from 'prom-client';

type LabelValue = string | number;

/** Observations whose labels begin with the same values. */
interface Series {
  readonly below: Map<LabelValue, Series>;
  /** One count for each bound, not cumulative, and one for values above all; undefined before the first observation. */
  counts: Float64Array | undefined;
  sum: number;
}

function emptySeries(): Series {
  return { below: new Map(), counts: undefined, sum: 0 };
}

/**
 * A histogram of Prometheus. A general library makes a text of all labels for each observation; here a series is a
 * look-up for each label away. Label values are the service's own words, never a request's text, and need no escapes.
 *
 * @param bounds ascending upper bounds of the buckets, in the unit that the name says.
 */
export function labelledHistogram(
  name: string,
  help: string,
  labelNames: readonly string[],
  bounds: readonly number[],
) {
  const root = emptySeries();
  const spelled: { readonly labels: string; readonly series: Series }[] = [];

  function begin(series: Series, values: readonly LabelValue[]): Float64Array {
    const labels = labelNames.map((label, index) => `${label}="${values[index] ?? ''}"`).join(',');
    spelled.push({ labels, series });
    return new Float64Array(bounds.length + 1);
  }

  return {
    /** @param values one for each label name, in their order. */
    observe(value: number, ...values: readonly LabelValue[]): void {
      let series = root;
      for (const label of values) {
        let next = series.below.get(label);
        if (next === undefined) {
          next = emptySeries();
          series.below.set(label, next);
        }
        series = next;
      }
      series.counts ??= begin(series, values);
      let bucket = 0;
      while (value > Number(bounds[bucket])) bucket += 1;
      series.counts[bucket] = Number(series.counts[bucket]) + 1;
      series.sum += value;
    },

    /** The text that Prometheus reads (text exposition format 0.0.4). */
    text(): string {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
      for (const { labels, series } of spelled) {
        const behind = labels === '' ? '' : `,${labels}`;
        const braces = labels === '' ? '' : `{${labels}}`;
        let count = 0;
        for (const [index, own] of (series.counts ?? []).entries()) {
          count += own;
          lines.push(`${name}_bucket{le="${bounds[index] ?? '+Inf'}"${behind}} ${count}`);
        }
        lines.push(`${name}_sum${braces} ${series.sum}`, `${name}_count${braces} ${count}`);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}

/** One value, or values by the value of their label; undefined: without the label. */
type Values = number | Iterable<readonly [label: string | number | undefined, value: number]>;

export type Register = (
  name: string,
  help: string,
  read: () => Values | Promise<Values>,
  label?: string,
) => void;

/** Registers gauges and counters whose values are read at each scrape. */
export function metricsIn(registry: Registry): { readonly gauge: Register; readonly counter: Register } {
  const registerAs =
    (Metric: typeof Gauge | typeof Counter): Register =>
    (name, help, read, label) => {
      const labelNames = label === undefined ? [] : [label];
      new Metric({
        name,
        help,
        labelNames,
        registers: [registry],
        async collect() {
          const values = await read();
          this.reset();
          if (typeof values === 'number') this.inc(values);
          else
            for (const [of, value] of values)
              this.inc(label === undefined || of === undefined ? {} : { [label]: of }, value);
        },
      });
    };
  return { gauge: registerAs(Gauge), counter: registerAs(Counter) };
}
