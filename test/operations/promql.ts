/** What an expression asks for: a metric, and the labels by which it chooses. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

const WORD = /^(?:by|on|unless|and|or|ignoring|without|bool)$/;
const LABEL_LIST = /\b(?:by|on|ignoring|without) ?\(([^)]*)\)/g;

/** The selectors of an expression of PromQL. promtool is what says that it is one. */
export function selectorsOf(expression: string): readonly Selector[] {
  const bare = expression.replace(LABEL_LIST, '').replace(/\[[^\]]*\]/g, '');
  const found = bare.matchAll(/([a-zA-Z_:][\w:]*)(\{[^}]*\})?(?![\w:]*\s*\()/g);
  return Array.from(found).flatMap(([, metric = '', braces = '']) =>
    WORD.test(metric) ? [] : { metric, labels: labelsIn(braces) },
  );
}

/** The labels by which an expression groups or matches. */
export function groupedBy(expression: string): readonly string[] {
  return Array.from(expression.matchAll(LABEL_LIST)).flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
}

function labelsIn(braces: string): readonly string[] {
  return Array.from(braces.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label);
}
