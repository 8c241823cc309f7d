/** `malformed` is no JSON at all, `duplicate` is JSON in which an object has two members of one name. */
export type UniqueJson =
  | { readonly outcome: 'parsed'; readonly value: unknown }
  | { readonly outcome: 'malformed' | 'duplicate' };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * JSON of which every reader makes the same value: strict UTF-8 without a byte order mark, and no two members
 * of one name in any object (RFC 7515 §4, RFC 7519 §4, RFC 8725 §2.6). Lets unpaired surrogates pass.
 */
export function parseUniqueJson(bytes: Uint8Array): UniqueJson {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return { outcome: 'malformed' };
  }
  return hasDuplicateMember(text) ? { outcome: 'duplicate' } : { outcome: 'parsed', value };
}

/** Walks text that `JSON.parse` has accepted; names are compared after their escapes are resolved. */
function hasDuplicateMember(json: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  let atName = false;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case '{':
        names = new Set();
        open.push(names);
        atName = true;
        break;
      case '[':
        names = undefined;
        open.push(names);
        break;
      case '}':
      case ']':
        open.pop();
        names = open.at(-1);
        atName = false;
        break;
      case ',':
        atName = names !== undefined;
        break;
      case '"': {
        const end = endOfString(json, at);
        if (atName && names !== undefined) {
          const name = String(JSON.parse(json.slice(at, end)));
          if (names.has(name)) return true;
          names.add(name);
          atName = false;
        }
        at = end - 1;
        break;
      }
    }
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}
