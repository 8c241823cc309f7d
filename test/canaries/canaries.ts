import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Shorter ones are found by accident. */
const MIN_LENGTH = 8;

/** Titles that are searched for: the latest. */
const MAX_TITLES = 500;

/** Claims and signature of a compact JWS. Begins with its dot: long runs of letters are sent too. */
const TOKEN = /\.([\w-]{20,})\.([\w-]{20,})/g;
const WORD = /[\w-]{20,}/g;
const TITLE = /"title"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** A line of a stack. */
const FRAME = /\bat (?:[\w.<>[\] ]{1,100} \()?(?:file:|node:)/;

/** Where this repository lies. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Searches what a service says for what it must keep to itself. Findings wait until somebody takes them. */
export function keepCanaries(root: string = ROOT) {
  const path = pathWithin(root);
  const secrets = new Set<string>();
  const titles = new Set<string>();
  const tokenParts = new Set<string>();
  let findings = new Set<string>();

  function find(what: string, where: string, text: string, at: number): void {
    if (at === -1) return;
    findings.add(`${what} is in ${where}: ${JSON.stringify(text.slice(Math.max(0, at - 100), at + 100))}`);
  }

  function searchTexts(what: string, texts: ReadonlySet<string>, where: string, text: string): void {
    for (const kept of texts) find(what, where, text, text.indexOf(kept));
  }

  function searchTokens(where: string, text: string): void {
    if (tokenParts.size === 0) return;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (tokenParts.has(word)) find('a token', where, text, index);
    }
  }

  return {
    /** Keeps a text of at least 8 characters that no answer and no output may show: a secret, a password. */
    keepSecret(secret: string): void {
      if (secret.length >= MIN_LENGTH) secrets.add(secret);
    },
    /** Keeps what is to be kept of a request: its tokens and its titles. */
    keepSent(request: string): void {
      for (const [, claims = '', signature = ''] of request.matchAll(TOKEN)) {
        tokenParts.add(claims).add(signature);
      }
      for (const [, quoted = ''] of request.matchAll(TITLE)) {
        const title = readString(quoted);
        if (title.length >= MIN_LENGTH) titles.add(title);
      }
      for (const title of titles) {
        if (titles.size <= MAX_TITLES) break;
        titles.delete(title);
      }
    },
    /** Searches a part of what came from a server. `isError`: of an answer of 4xx or 5xx, which shows no title either. */
    searchAnswer(answer: string, isError: boolean): void {
      searchTexts('a secret', secrets, 'an answer', answer);
      searchTokens('an answer', answer);
      find('a path', 'an answer', answer, answer.search(path));
      find('a stack', 'an answer', answer, answer.search(FRAME));
      if (isError) searchTexts('a title', titles, 'an error', answer);
    },
    /** Searches what a program wrote. Its log may name paths and has the stacks of crashes. */
    searchOutput(output: string, allowed?: 'tokens' | 'titles'): void {
      searchTexts('a secret', secrets, 'an output', output);
      if (allowed !== 'titles') searchTexts('a title', titles, 'an output', output);
      if (allowed !== 'tokens') searchTokens('an output', output);
    },
    /** What was found since the last call, a sentence each. */
    take(): readonly string[] {
      const taken = [...findings];
      findings = new Set();
      return taken;
    },
  };
}

export type Canaries = ReturnType<typeof keepCanaries>;

/** The canaries of this test process. */
export const canaries = keepCanaries();

/**
 * A path of a service under test, or of a program in the repository. The script of the reference page has paths of
 * others: in `/var/log/app/server.log`, no repository is meant that lies in `/app`.
 */
function pathWithin(root: string): RegExp {
  const literally = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const temporary = literally(join(tmpdir(), 'todo-'));
  return new RegExp(`(?<![\\w.-])(?:${temporary}|${literally(root)}(?:src|test|node_modules)/)`);
}

/** Empty when the quoted text is no JSON, which tests send too. */
function readString(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return '';
  }
}
