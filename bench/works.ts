/** A kind of request, or several in turn. */
export type Work = 'one' | 'unchanged' | 'gzip' | 'list' | 'create' | 'replace' | 'changed' | 'mixed';

/** What the constant also does: it is the yardstick of these. */
export const READS: ReadonlySet<Work> = new Set(['one', 'unchanged', 'gzip', 'list']);

export interface Load {
  /** `PUT /todos/1 {…}` for one; the load goes through them again and again. */
  readonly requests: readonly string[];
  /** A header line of all. */
  readonly header?: string;
  readonly connections: number;
  /** Requests a second, each alone; without it as many as are answered. */
  readonly perSecond?: number | undefined;
}

/** @param etag of the list as it is now. */
export function loadOf(work: Work, server: string, todos: number, etag: string): Load {
  // The constant has one answer at each path.
  const isConstant = server === 'constant';
  const list = { requests: ['GET /todos'], connections: connectionsFor(todos) };
  const of = (kind: 'one' | 'replace' | 'create' | 'mixed') => ({
    requests: draw(kind, todos),
    connections: 64,
  });
  switch (work) {
    case 'list':
      return list;
    case 'gzip':
      return isConstant ? { ...list, requests: ['GET /gzip'] } : { ...list, header: 'Accept-Encoding: gzip' };
    case 'unchanged':
      if (isConstant) return { requests: ['GET /unchanged'], connections: 64 };
      return { requests: ['GET /todos'], connections: 64, header: `If-None-Match: ${etag}` };
    case 'changed': {
      const requests = draw('replace', todos)
        .slice(0, 999)
        .flatMap((replace) => [replace, 'GET /todos']);
      // A single one: between its lists there is one change.
      return { requests, connections: 1 };
    }
    default:
      return of(work);
  }
}

/** Of 64 connections that read lists of many megabytes, hardly any would come to an end within a second. */
const connectionsFor = (todos: number) => (todos <= 10_000 ? 64 : 1);

/** So many todos are replaced in turn, each time with another title: a replace that changes nothing writes nothing. */
const REPLACED = 500;

export function draw(
  kind: 'one' | 'replace' | 'create' | 'mixed' | 'list',
  todos: number,
): readonly string[] {
  return Array.from({ length: 10_000 }, (_, index) => {
    const part = kind === 'mixed' ? index % 20 : { one: 0, replace: 15, list: 19, create: 20 }[kind];
    const path = (number: number) => `/todos/${1 + ((number * 7_919) % todos)}`;
    const body = JSON.stringify({ title: `Water the plants ${index}`, categoryId: 1 });
    if (part < 15) return `GET ${path(index)}`;
    if (part < 19) return `PUT ${path(index % REPLACED)} ${body}`;
    return part === 19 ? 'GET /todos' : `POST /todos ${body}`;
  });
}
