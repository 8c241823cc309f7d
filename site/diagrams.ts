/** Diagrams in Mermaid's language, which the browser draws. */

interface Token {
  readonly info: string;
  readonly content: string;
}

interface Markdown {
  readonly renderer: {
    readonly rules: { fence?: ((tokens: Token[], index: number, ...more: never[]) => string) | undefined };
  };
}

/** A rule of markdown-it: a fence of the language `mermaid` is the component `MermaidDiagram` of the theme. */
export function diagramRule({ renderer: { rules } }: Markdown): void {
  const { fence } = rules;
  rules.fence = (tokens, index, ...more) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info !== 'mermaid') return fence?.(tokens, index, ...more) ?? '';
    return `<MermaidDiagram id="diagram-${index}" text="${encodeURIComponent(content)}" />`;
  };
}
