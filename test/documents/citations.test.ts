import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { chapters } from '../../tools/clauses.ts';
import { PAGES } from '../../tools/pages.ts';

const ANCHORS = new Map(
  chapters().flatMap(({ clauses }) => clauses.map(({ name, anchor }) => [name, anchor] as const)),
);

const CODE = globSync(
  ['{src,test,tools,bench,packages,deploy}/**/*.{ts,js,lua,sql,yaml,c}', '.github/**/*.yml', '.ci/run'],
  { exclude: (name) => /(?:^|\/)(?:node_modules|dist|build|made)$/.test(name) },
);

const NAME = [...ANCHORS.keys()]
  .sort((one, other) => other.length - one.length)
  .map((name) => name.replaceAll(/[{}]/g, '\\$&'))
  .join('|');

/** `contract Errors 3; N2`, or `contract B1 to B7`. */
const CITATION = new RegExp(`\\b[Cc]ontract ((?:${NAME})(?:(?:; | to )(?:${NAME}))*)(?!\\w)`, 'g');

/** What looks like a clause, or like the beginning of a citation. */
const CLAUSE_LIKE = new RegExp(
  [
    /\b[RPNBADIE]\d{1,2}\b/,
    /\b(?:What the service does|Endpoints(?: [AB])?|Authentication|Errors|Versioning|Order(?: of checks)?),? (?:rule )?\d/,
    /\b[Cc]ontract,? [A-Z]/,
    /\b[Ss]pecification,? (?:[A-Z]|\d)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

test('the code cites clauses of docs/contract.md in one spelling: the word contract, and their names', () => {
  const found = CODE.flatMap((file) =>
    commentsIn(readFileSync(file, 'utf8')).map((text) => ({ file, ...citationsIn(text) })),
  );
  const count = found.reduce((sum, { names }) => sum + names.length, 0);
  assert.ok(count >= 150, `only ${count} citations were found`);
  assert.deepEqual(
    found.filter(({ rest }) => CLAUSE_LIKE.test(rest.replaceAll(/`[^`]*`/g, ''))),
    [],
  );
});

test('a page cites a clause by a link to it, whose text is its name', () => {
  let count = 0;
  const wrong = PAGES.flatMap((page) => {
    const prose = readFileSync(page, 'utf8')
      .replaceAll(/^```[\s\S]*?^```|`[^`]*`/gm, '')
      .replaceAll(/^- <a id=.+$/gm, '');
    const rest = prose.replaceAll(/\[([^\]]+)\]\(([^)\s]*)\)/g, (link, name, target) => {
      const isCited = /(?:^|contract\.md)#/.test(target) && target.endsWith(`#${ANCHORS.get(name)}`);
      count += isCited ? 1 : 0;
      return isCited ? '' : link;
    });
    return rest
      .split(/\n\n|\n(?=[|-])/)
      .filter((text) => CLAUSE_LIKE.test(text))
      .map((text) => ({ page, text }));
  });
  assert.ok(count >= 40, `only ${count} citations were found`);
  assert.deepEqual(wrong, []);
});

for (const [what, comment] of [
  ['of the specification by its title', '(specification, Errors 4)'],
  ['with the word rule', '(contract Errors, rule 3)'],
  ['of endpoints without their profile', '(contract Endpoints, rule 4)'],
  ['of the order by its title', '(contract, Order of checks 5)'],
  ['without the word contract', '(P4)'],
  ['with a comma between two', '(contract D9, D11)'],
  ['that there is not', '(contract D99)'],
  ['whose number is too high', '(contract Errors 7)'],
  ['that is wrapped', '(contract Order of\n * checks 3)'],
] as const) {
  test(`a citation of a clause ${what} is found to be wrong`, () => {
    const [text = '', ...others] = commentsIn(`/**\n * What it is ${comment}.\n */\ncode();\n`);
    assert.deepEqual(others, []);
    assert.match(citationsIn(text).rest, CLAUSE_LIKE);
  });
}

test('a citation that is wrapped is read as one', () => {
  const [text = ''] = commentsIn('// What it is (contract What the service\n//   does 3; D7; B1 to B7).\n');
  assert.deepEqual(citationsIn(text), {
    names: ['What the service does 3', 'D7', 'B1', 'B7'],
    rest: 'What it is ().',
  });
});

/** The names that a text cites, and the text without them. */
function citationsIn(text: string): { readonly names: readonly string[]; readonly rest: string } {
  const cited = Array.from(text.matchAll(CITATION), ([, names = '']) => names.split(/; | to /));
  return { names: cited.flat(), rest: text.replaceAll(CITATION, '') };
}

/** The comments in a source file, in any of its languages; the lines of one are joined. */
function commentsIn(source: string): readonly string[] {
  const comments: string[] = [];
  let isInside = false;
  for (const line of source.split('\n')) {
    const own = /^\s*(?:\/\*\*?|\*\/?|\/\/|#|--)(?:\s+(.*))?$/.exec(line);
    const text = (own?.[1] ?? / (?:\/\/|#|--) (.*)$/.exec(line)?.[1] ?? '').replace(/\s*\*\/$/, '').trim();
    if (own !== null && isInside) comments.push(`${comments.pop()} ${text}`.trim());
    else if (own !== null || text !== '') comments.push(text);
    isInside = own !== null && !line.endsWith('*/');
  }
  return comments;
}
