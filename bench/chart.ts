import { titleOf } from './report.ts';
import type { Figures } from './results.ts';
import { serverNamed } from './servers.ts';

interface Panel {
  readonly scenario: string;
  readonly title: string;
  readonly figure: 'cpu' | 'requestsPerSecond';
}

const PANELS: readonly Panel[] = [
  { scenario: 'one', title: 'One todo, HS256', figure: 'cpu' },
  { scenario: 'one-rs256', title: 'One todo, RS256', figure: 'cpu' },
  { scenario: 'list-1000', title: 'The list of 1,000 todos', figure: 'cpu' },
  { scenario: 'not-found', title: 'A 404 problem', figure: 'cpu' },
  { scenario: 'create', title: 'Create, 64 connections', figure: 'requestsPerSecond' },
  { scenario: 'mix', title: 'The mix, 64 connections', figure: 'requestsPerSecond' },
];

const WIDTH = 1080;
const COLUMN = WIDTH / 2;
/** Room for the longest title, "todo-service with a log line per request". */
const LABEL = 275;
const ROW = 18;
const HEAD = 44;
const BAR = COLUMN - LABEL - 90;

const STYLE = `text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:13px}.unit{fill:#59636e}
.peer{fill:#b6bfc9}.floor{fill:#dde2e8}.service{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.unit{fill:#9198a1}.peer{fill:#59636e}.floor{fill:#373e47}.service{fill:#4493f8}}`;

/** The figures as bars, an SVG: shorter is better for CPU, longer for throughput. Light and dark. */
export function chart(figures: readonly Figures[]): string {
  const panels = PANELS.map((panel) => ({
    ...panel,
    bars: figures
      .filter(({ scenario, [panel.figure]: value }) => scenario === panel.scenario && value !== undefined)
      .toSorted((a, b) => better(panel, b) - better(panel, a)),
  })).filter(({ bars }) => bars.length > 0);
  const rows = Array.from({ length: Math.ceil(panels.length / 2) }, (_, row) =>
    panels.slice(row * 2, row * 2 + 2),
  );
  let y = 8;
  const drawn = rows.map((row) => {
    const top = y;
    y += HEAD + Math.max(...row.map(({ bars }) => bars.length)) * ROW + 12;
    return row.map((panel, column) => drawPanel(panel, panel.bars, column * COLUMN, top)).join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="Benchmark figures"><style>${STYLE}</style>${drawn.join('')}</svg>\n`;
}

function better({ figure }: Panel, one: Figures): number {
  return figure === 'cpu' ? -(one.cpu ?? 0) : (one.requestsPerSecond ?? 0);
}

function drawPanel({ title, figure }: Panel, bars: readonly Figures[], x: number, y: number): string {
  const longest = Math.max(...bars.map((one) => one[figure] ?? 0));
  const unit =
    figure === 'cpu'
      ? 'CPU microseconds per request, shorter is better'
      : 'requests per second, longer is better';
  const lines = bars.map((one, index) => {
    const value = one[figure] ?? 0;
    const top = y + HEAD + index * ROW;
    const width = Math.max(1, (value / longest) * BAR);
    const { role } = serverNamed(one.server);
    return (
      text(x + LABEL - 8, top + 12, shortTitle(one), 'end') +
      `<rect class="${role}" x="${x + LABEL}" y="${top + 2}" width="${width.toFixed(1)}" height="${ROW - 5}" rx="2"/>` +
      text(x + LABEL + width + 6, top + 12, label(value))
    );
  });
  return (
    text(x + 8, y + 16, title, 'start', 'title') + text(x + 8, y + 34, unit, 'start', 'unit') + lines.join('')
  );
}

/** Without the libraries beside the framework. The service syncs always. */
function shortTitle(one: Figures): string {
  const [framework = '', ...rest] = titleOf(one).replaceAll('**', '').split(', ');
  const { role } = serverNamed(one.server);
  if (role === 'floor') return [framework, ...rest].join(', ');
  if (role === 'service') return framework;
  const note = one.server === 'fastify-cache' ? ' + token cache' : '';
  const kept = rest.filter((part) => /^(?:not )?synced$/.test(part));
  return [framework + note, ...kept].join(', ');
}

function label(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

function text(x: number, y: number, content: string, anchor = 'start', style = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}"${style === '' ? '' : ` class="${style}"`}>${escaped}</text>`;
}
