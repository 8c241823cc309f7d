/** A line of a panel: its name, and what it was at times in seconds. */
export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [time: number, value: number])[];
}

/** A panel of a dashboard, with its place on a grid of 24 columns. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly max: number | undefined;
  /** A line across the panel. */
  readonly limit: number | undefined;
  /** Shows what its curves are at their end, in place of the curves: by value, else the name alone. */
  readonly words: Readonly<Record<string, string>> | undefined;
  readonly place: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly curves: readonly Curve[];
}

/** A line of text across the dashboard. */
export interface Heading {
  readonly title: string;
  readonly y: number;
}

/** Pixels of a column and of a row of the grid. */
const COLUMN = 60;
const ROW = 30;
const GAP = 8;

const COLOURS = [
  '#3b6fb6',
  '#c9622b',
  '#3f8f4f',
  '#8a4fa3',
  '#b0912a',
  '#2b8f96',
  '#b23a5e',
  '#6b6b6b',
  '#7f9b2f',
  '#5a4fcf',
];

const MIB = 2 ** 20;

/** Names of curves that are written below a panel; the others are drawn alone. */
const MAX_NAMED = 6;

/** The picture of a dashboard, as SVG. `from` and `until` in seconds. */
export function drawDashboard(
  title: string,
  headings: readonly Heading[],
  panels: readonly Panel[],
  [from, until]: readonly [number, number],
): string {
  const rows = Math.max(...panels.map(({ place }) => place.y + place.h));
  const width = 24 * COLUMN + GAP;
  const height = rows * ROW + 48;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="11">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${GAP}" y="26" font-size="16" fill="#111">${escaped(title)}</text>`,
    ...headings.map(
      ({ title: text, y }) =>
        `<text x="${GAP}" y="${y * ROW + 62}" font-size="13" font-weight="bold" fill="#333">${escaped(text)}</text>`,
    ),
    ...panels.map((panel) => drawPanel(panel, from, until)),
    '</svg>',
  ].join('\n')}\n`;
}

function drawPanel(panel: Panel, from: number, until: number): string {
  const { title, unit, limit, place, curves } = panel;
  const [width, height] = [place.w * COLUMN - GAP, place.h * ROW - GAP];
  const frame = [
    `<g transform="translate(${place.x * COLUMN + GAP} ${place.y * ROW + 44})">`,
    `<rect width="${width}" height="${height}" fill="none" stroke="#ccc"/>`,
    `<text x="10" y="17" font-weight="bold" fill="#222">${escaped(title)}</text>`,
  ];
  if (panel.words !== undefined) return [...frame, ...drawWords(panel, panel.words), '</g>'].join('\n');
  const plot = { left: 58, top: 26, right: width - 12, bottom: height - 58 };
  const highest = Math.max(...curves.flatMap(({ points }) => points.map(([, value]) => value)), limit ?? 0);
  const top = panel.max ?? (unit === 'bytes' ? niceAbove(highest / MIB) * MIB : niceAbove(highest));
  const x = (time: number) => plot.left + ((time - from) / (until - from)) * (plot.right - plot.left);
  const y = (value: number) => plot.bottom - (value / top) * (plot.bottom - plot.top);
  const grid = [0, 0.5, 1].map((part) => {
    const at = y(top * part).toFixed(1);
    return (
      `<path d="M${plot.left} ${at}H${plot.right}" stroke="#ddd"/>` +
      `<text x="${plot.left - 6}" y="${Number(at) + 4}" text-anchor="end" fill="#555">${quantity(top * part, unit)}</text>`
    );
  });
  const minutes = (until - from) / 60;
  const times = [0, 0.5, 1].map(
    (part) =>
      `<text x="${x(from + (until - from) * part)}" y="${plot.bottom + 14}" text-anchor="middle" fill="#555">${rounded(minutes * part)} min</text>`,
  );
  const lines = curves.map(({ points }, index) => {
    const path = points.map(([time, value]) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join('L');
    return path === '' ? '' : `<path d="M${path}" fill="none" stroke="${colour(index)}" stroke-width="1.3"/>`;
  });
  const line =
    limit === undefined
      ? []
      : [
          `<path d="M${plot.left} ${y(limit).toFixed(1)}H${plot.right}" stroke="#c00" stroke-dasharray="5 3"/>`,
        ];
  const names = curves.slice(0, MAX_NAMED).map(({ name }, index) => {
    const [column, row] = [index % 3, Math.floor(index / 3)];
    const left = 12 + (column * (width - 20)) / 3;
    const at = plot.bottom + 32 + row * 15;
    const room = Math.floor((width - 20) / 3 / 6.2) - 3;
    const text = name.length > room ? `${name.slice(0, room - 1)}…` : name;
    return (
      `<path d="M${left.toFixed(0)} ${at - 4}h12" stroke="${colour(index)}" stroke-width="3"/>` +
      `<text x="${(left + 16).toFixed(0)}" y="${at}" fill="#333">${escaped(text)}</text>`
    );
  });
  const nothing =
    curves.length === 0
      ? [`<text x="${width / 2}" y="${height / 2}" text-anchor="middle" fill="#888">none</text>`]
      : [];
  return [...frame, ...grid, ...times, ...line, ...lines, ...names, ...nothing, '</g>'].join('\n');
}

function drawWords({ curves, place }: Panel, words: Readonly<Record<string, string>>): readonly string[] {
  const [width, height] = [place.w * COLUMN - GAP, place.h * ROW - GAP];
  return curves.flatMap(({ name, points }, index) => {
    const word = words[String(points.at(-1)?.[1] ?? '')];
    const middle = (height * (index + 1)) / (curves.length + 1);
    const centred = `x="${width / 2}" text-anchor="middle"`;
    return [
      `<text ${centred} y="${middle}" font-size="26" fill="#2a7a3a">${escaped(word ?? name)}</text>`,
      `<text ${centred} y="${middle + 20}" fill="#333">${word === undefined ? '' : escaped(name)}</text>`,
    ];
  });
}

function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#000';
}

/** 1, 2 or 5 times a power of ten. */
function niceAbove(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

function quantity(value: number, unit: string): string {
  switch (unit) {
    case 's':
      return value > 0 && value < 1 ? `${rounded(value * 1_000)} ms` : `${rounded(value)} s`;
    case 'bytes':
      return `${rounded(value / MIB)} MiB`;
    case 'percentunit':
      return `${rounded(value * 100)} %`;
    case 'reqps':
    case 'ops':
      return `${rounded(value)}/s`;
    default:
      return rounded(value);
  }
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
