import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type AnyNode, parse } from 'acorn';
import { checkSync } from 'recheck';

const HELP = `Usage: node tools/regex.ts [files]

Proves that every regular expression of the program, or of these files, takes time that grows no faster than its input:
literals, arguments of RegExp, and the patterns of JSON Schemas, those of a JSON file too. One that does not, or for which
there is no proof, is printed, and the exit code is 1. Flag v and expressions made at run time have no proof: write them
otherwise. Lookahead and lookbehind have none either: a search with a fixed seed must find no slow input for them.
`;

/**
 * Nothing but the number of steps ends an attempt: a slow machine finds what a fast one does. `timeout`, for one expression,
 * most of which need less than 100 ms, only keeps a run from going on for ever.
 */
const SETTINGS = {
  timeout: 600_000,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  randomSeed: 20261121,
};

/** The flag with which the validator compiles the patterns of JSON Schema. */
const SCHEMA_FLAGS = 'u';

// No other process: neither Java nor a native executable.
process.env.RECHECK_BACKEND = 'pure';

const files = process.argv.slice(2);
if (files.includes('--help')) {
  process.stdout.write(HELP);
  process.exit();
}
const checked =
  files.length > 0 ? files : globSync('src/**/*.{ts,json}').filter((path) => !path.endsWith('.test.ts'));
let count = 0;
for (const path of checked) {
  for (const { line, source, flags } of expressionsIn(moduleOf(path))) {
    count += 1;
    const fault = source === undefined ? 'is made at run time' : faultOf(source, flags);
    if (fault === undefined) continue;
    process.exitCode = 1;
    process.stdout.write(`${path}:${line}: /${source ?? '…'}/${flags} ${fault}\n`);
  }
}
process.stdout.write(`${count} regular expressions in ${checked.length} files\n`);

/** The text of a module; of JSON, on the lines where it stands, one that exports it. */
function moduleOf(path: string): string {
  const text = readFileSync(path, 'utf8');
  return path.endsWith('.json') ? `export default ${text}` : text;
}

/** Undefined when it is linear in the input. */
function faultOf(source: string, flags: string): string | undefined {
  const proved = checkSync(source, flags, { ...SETTINGS, checker: 'automaton' });
  const looksAround = proved.status === 'unknown' && proved.error.kind === 'unsupported';
  const result = looksAround ? checkSync(source, flags, { ...SETTINGS, checker: 'fuzz' }) : proved;
  switch (result.status) {
    case 'safe':
      return undefined;
    case 'unknown':
      return `has no proof (${result.error.kind})`;
    case 'vulnerable':
      return `is ${result.complexity.summary}, as with ${result.attack.pattern}`;
  }
}

/** A regular expression of a source file. */
interface Expression {
  /** From 1. */
  readonly line: number;
  /** Undefined when it is made at run time. */
  readonly source: string | undefined;
  readonly flags: string;
}

/** Literals, arguments of `RegExp`, and members `pattern`, which JSON Schema has, of a TypeScript module. */
function expressionsIn(typescript: string): Expression[] {
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
