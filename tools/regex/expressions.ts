import { stripTypeScriptTypes } from 'node:module';
import { type AnyNode, parse } from 'acorn';

/** A regular expression of a source file. */
export interface Expression {
  /** From 1. */
  readonly line: number;
  /** Undefined when it is made at run time. */
  readonly source: string | undefined;
  readonly flags: string;
}

/** The flag with which the validator compiles the patterns of JSON Schema. */
const SCHEMA_FLAGS = 'u';

/** Literals, arguments of `RegExp`, and members `pattern`, which JSON Schema has, of a TypeScript module. */
export function expressionsIn(typescript: string): Expression[] {
  // Types become spaces, so that lines stay.
  const program = parse(stripTypeScriptTypes(typescript), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
  });
  const nodes = [...descendants(program)];
  const constants = new Map(nodes.flatMap(constantOf));
  const textOf = (node: AnyNode | undefined) =>
    node?.type === 'Identifier' ? constants.get(node.name) : node && literalOf(node);
  return nodes.flatMap((node): Expression[] => {
    const line = node.loc?.start.line ?? 0;
    if (node.type === 'Literal' && node.regex) {
      return [{ line, source: node.regex.pattern, flags: node.regex.flags }];
    }
    if ((node.type === 'NewExpression' || node.type === 'CallExpression') && isNamed(node.callee, 'RegExp')) {
      const [source, flags] = node.arguments;
      return [{ line, source: textOf(source), flags: textOf(flags) ?? '' }];
    }
    if (node.type === 'ObjectExpression') {
      return node.properties.flatMap((property) =>
        property.type === 'Property' && isNamed(property.key, 'pattern')
          ? [{ line: property.loc?.start.line ?? line, source: textOf(property.value), flags: SCHEMA_FLAGS }]
          : [],
      );
    }
    return [];
  });
}

/** `const NAME = 'text'`, whatever its scope. */
function constantOf(node: AnyNode): [name: string, text: string][] {
  if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier' || !node.init) return [];
  const text = literalOf(node.init);
  return text === undefined ? [] : [[node.id.name, text]];
}

function literalOf(node: AnyNode): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) {
    return node.quasis[0]?.value.cooked ?? undefined;
  }
  return undefined;
}

function isNamed(node: AnyNode, name: string): boolean {
  return (node.type === 'Identifier' && node.name === name) || literalOf(node) === name;
}

function* descendants(node: AnyNode): Generator<AnyNode> {
  yield node;
  for (const value of Object.values(node).flat()) if (isNode(value)) yield* descendants(value);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
