import type { Answer } from './answer.ts';
import type { Call, Target } from './call.ts';

/** The callers that a route is open to: it states them, the method never decides (contract Endpoints A, rule 4). */
export type Access = 'open' | 'authenticated' | 'CanWriteTodos';

export interface Route {
  /** `GET` answers `HEAD` as well (contract R7; RFC 9110 §9.3.2). */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** In lower case, without a final slash. One segment may be `:id`. */
  readonly path: string;
  readonly access: Access;
  /** Whether the handler reads the body; without it a body is ignored (contract B1). */
  readonly readsBody?: true;
  handle(call: Call): Answer | Promise<Answer>;
}

/** A `GET` that is open to every client. */
export function openRoute(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path, access: 'open', handle };
}

/** A path that some route has. */
export interface Found extends Target {
  /** The methods of the path as `Allow` lists them (contract R4). */
  readonly allow: string;
  /** Undefined when no route of the path has the method. */
  readonly route: Route | undefined;
}

interface Entry extends Pick<Found, 'path' | 'allow'> {
  readonly routes: ReadonlyMap<string, Route>;
  /** The path before `:id`; the whole of a path without it. */
  readonly prefix: string;
  /** The path after `:id`. */
  readonly suffix: string;
}

const ID = ':id';

/** Finds the route for a method and a decoded path; undefined when no route has the path (contract R2; R3). */
export function matchRoutes(routes: readonly Route[]): (method: string, path: string) => Found | undefined {
  const entries = [...Map.groupBy(routes, ({ path }) => path)].map(([path, own]) => entryOf(path, own));
  const withId = entries.filter(({ path }) => path.includes(ID));
  const fixed = new Map(entries.filter(({ path }) => !path.includes(ID)).map((entry) => [entry.path, entry]));

  const find = (method: string, path: string): Found | undefined => {
    for (const entry of withId) {
      const { prefix, suffix } = entry;
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const id = parseId(path.slice(prefix.length, path.length - suffix.length));
      if (id !== undefined) return found(entry, method, id);
    }
    const entry = fixed.get(path);
    return entry && found(entry, method, undefined);
  };
  return (method, path) => find(method, path) ?? find(method, normalized(path));
}

/** A path without its final slash and in lower case: neither matters (contract R3). */
function normalized(path: string): string {
  return (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase();
}

function entryOf(path: string, routes: readonly Route[]): Entry {
  const methods = new Map(routes.map((route) => [route.method as string, route]));
  const read = methods.get('GET');
  if (read !== undefined) methods.set('HEAD', read);
  const [prefix = '', suffix = ''] = path.split(ID);
  return { path, allow: [...methods.keys()].sort().join(', '), routes: methods, prefix, suffix };
}

function found({ path, allow, routes }: Entry, method: string, id: number | undefined): Found {
  return { path, allow, route: routes.get(method), id };
}

const MIN_INT32 = -2_147_483_648;
const MAX_INT32 = 2_147_483_647;

/** The integer that an `{id}` segment spells (contract R2), or undefined: no route matches then. */
function parseId(segment: string): number | undefined {
  if (!/^[+-]?\d+$/.test(segment)) return undefined;
  const id = Number(segment);
  return id >= MIN_INT32 && id <= MAX_INT32 ? id : undefined;
}
