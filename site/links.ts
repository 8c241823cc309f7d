/** Links and pictures of a page: what leads through the repository, leads through the site. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { anchorsOf, PAGES } from '../tools/pages.ts';
import { addressOf } from './pages.ts';

/** What is used of a token of markdown-it. */
interface Token {
  type: string;
  content: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** What is used of markdown-it, and of what VitePress tells it. */
interface Markdown {
  readonly core: {
    readonly ruler: { push(name: string, rule: (state: State) => void): void };
  };
}

interface State {
  readonly tokens: Token[];
  readonly env: { readonly realPath?: string; readonly path: string };
}

/**
 * A rule of markdown-it. A link to a page leads to it on the site, a link to another file below `files`, the address of
 * the repository's files; without that it becomes plain text. An anchor of a page's own, as that of a clause, links to
 * itself.
 *
 * @param report takes a line for every link and picture that leads nowhere.
 */
export function linkRule(files: string | undefined, report: (line: string) => void) {
  return (markdown: Markdown): void => {
    markdown.core.ruler.push('repository', ({ tokens, env }) => {
      const page = relative('.', env.realPath ?? env.path);
      const check = (target: string) => {
        const fault = faultOf(page, target);
        if (fault !== undefined) report(`${page} leads to ${target}, ${fault}`);
      };
      for (const token of tokens.flatMap((block) => [block, ...(block.children ?? [])])) {
        if (token.type === 'image') check(token.attrGet('src') ?? '');
        if (token.type === 'html_block' || token.type === 'html_inline') {
          token.content = linkedToItself(withPictures(token.content, check));
        }
      }
      for (const { children } of tokens) if (children !== null) redirect(page, children, files, check);
    });
  };
}

function redirect(
  page: string,
  tokens: Token[],
  files: string | undefined,
  check: (target: string) => void,
): void {
  let isPlain = false;
  for (const token of tokens) {
    const target = token.type === 'link_open' ? (token.attrGet('href') ?? '') : '';
    if (token.type === 'link_open' && !/^[a-z]+:/.test(target)) {
      check(target);
      const address = addressFor(page, target, files);
      isPlain = address === undefined;
      token.attrSet('href', address ?? '');
    }
    if (!isPlain || !token.type.startsWith('link_')) continue;
    isPlain = token.type === 'link_open';
    token.type = 'text';
  }
}

/** Undefined for a file that is no page, where nobody knows the repository. */
function addressFor(page: string, target: string, files: string | undefined): string | undefined {
  const { file, anchor } = read(page, target);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (file === page) return hash;
  if (PAGES.includes(file)) return addressOf(file) + hash;
  return files && `${files}/${file}${hash}`;
}

function faultOf(page: string, target: string): string | undefined {
  const { file, anchor } = read(page, target);
  if (!existsSync(file)) return 'which is not there';
  if (anchor === undefined || !file.endsWith('.md') || anchorsOf(file).has(anchor)) return undefined;
  return 'which has no such section';
}

/** `file` counts from the root of the repository. */
function read(page: string, target: string): { readonly file: string; readonly anchor: string | undefined } {
  const [path = '', anchor] = target.split('#');
  return { file: path === '' ? page : join(page, '..', path), anchor };
}

/** Vite takes a picture along only if its path begins with a dot. */
function withPictures(html: string, check: (target: string) => void): string {
  return html.replaceAll(/\b(src|srcset)="([^":]+)"/g, (_, name, path) => {
    check(path);
    return `${name}="./${path}"`;
  });
}

function linkedToItself(html: string): string {
  return html.replace(/^<a id="([^"]+)">$/, '<a id="$1" class="clause" href="#$1" aria-label="Link to $1">');
}
