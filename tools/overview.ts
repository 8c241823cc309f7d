/** Draws the overview of README.md: who talks to the service, and who watches it. */

/** The colours of GitHub, by its scheme. */
const SCHEMES = {
  light: { box: '#f6f8fa', line: '#59636e', text: '#1f2328', service: '#ddf4ff', edge: '#0969da' },
  dark: { box: '#151b23', line: '#9198a1', text: '#f0f6fc', service: '#121d2f', edge: '#4493f8' },
};

/** What stands where, in pixels: the left upper corner of each box. */
const BOXES = [
  { x: 20, y: 120, name: 'Applications', lines: ['browsers, programs,', 'scripts'] },
  { x: 250, y: 10, name: 'Identity provider', lines: ['says who asks,', 'and who may write'] },
  { x: 250, y: 120, name: 'Proxy', lines: ['TLS, rate limits'] },
  { x: 480, y: 120, name: 'Todo Service', lines: ['tokens, rules,', 'errors (RFC 9457)'] },
  { x: 710, y: 120, name: 'Database', lines: ['one SQLite file,', 'or PostgreSQL'] },
  { x: 480, y: 240, name: 'Operators', lines: ['watch, back up,', 'restore, upgrade'] },
];

/** The way of each arrow, its label, and where that begins. */
const ARROWS = [
  { way: 'M250 45 H105 V114', label: 'tokens', at: [145, 37] },
  { way: 'M420 45 H565 V114', label: 'public keys', at: [455, 37] },
  { way: 'M190 155 H244', label: 'HTTPS', at: [194, 146] },
  { way: 'M420 155 H474', label: 'HTTP', at: [428, 146] },
  { way: 'M650 155 H704', label: 'SQL', at: [664, 146] },
  { way: 'M565 190 V234', label: 'metrics, log, traces', at: [575, 217] },
] as const;

/** The name of each file of the overview, and what is in it. */
export function overviews(): readonly (readonly [name: string, svg: string])[] {
  return Object.entries(SCHEMES).map(([scheme, colours]) => [`overview-${scheme}.svg`, overview(colours)]);
}

function overview({ box, line, text, service, edge }: (typeof SCHEMES)['light']): string {
  const boxes = BOXES.map(({ x, y, name, lines }) => {
    const [fill, stroke] = name === 'Todo Service' ? [service, edge] : [box, line];
    const from = y + (lines.length === 1 ? 32 : 25);
    const rest = lines.map(
      (words, at) => `<text x="${x + 85}" y="${from + 18 + 16 * at}" font-size="13">${words}</text>`,
    );
    return `<rect x="${x}" y="${y}" width="170" height="70" rx="6" fill="${fill}" stroke="${stroke}"/>
<text x="${x + 85}" y="${from}" font-size="15" font-weight="bold">${name}</text>
${rest.join('\n')}`;
  });
  const arrows = ARROWS.map(
    ({ way, label, at: [x, y] }) =>
      `<path d="${way}" fill="none" stroke="${line}" marker-end="url(#head)"/>
<text x="${x}" y="${y}" font-size="13" text-anchor="start">${label}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 320" role="img" font-family="sans-serif" text-anchor="middle" fill="${text}">
<title>Applications send tokens of the identity provider through a proxy to the service</title>
<marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="${line}"/></marker>
${[...boxes, ...arrows].join('\n')}
</svg>
`;
}
