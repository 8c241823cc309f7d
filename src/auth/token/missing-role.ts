import { quoteJson } from '../../quote.ts';
import type { Claims } from '../identity.ts';

/** Where else `editor` stands, or in which shape: the usual reasons why a right token may not write. */
export function explainMissingRole(claims: Claims): string {
  const elsewhere = findRole(claims, []);
  if (elsewhere !== undefined) {
    return `; "editor" stands in another claim: TODO_AUTH_ROLE_CLAIM=${quoteJson(toPointer(elsewhere))} would read it`;
  }
  const shape = findShape(claims, []);
  return shape === undefined ? '' : `; ${shape}`;
}

function findRole(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (value === 'editor') return path;
  if (Array.isArray(value)) return value.includes('editor') ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findRole(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Levels of claims. Roles stand in one to three. */
const MAX_SHAPE_DEPTH = 8;

/** Says where a claim means `editor` and does not say it as a string of its own, as identity providers do. */
function findShape(value: unknown, path: readonly string[]): string | undefined {
  if (typeof value === 'string') return explainShape(value, quoteJson(toPointer(path)));
  if (typeof value !== 'object' || value === null || path.length === MAX_SHAPE_DEPTH) return undefined;
  if (!Array.isArray(value) && Object.hasOwn(value, 'editor')) {
    return `"editor" is the name of a member of ${quoteJson(toPointer(path))}: ${ROLES_ARE}`;
  }
  for (const [name, member] of Object.entries(value)) {
    const found = findShape(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

const ROLES_ARE = 'roles are strings, one or a list of them';

function explainShape(text: string, pointer: string): string | undefined {
  const said = `${quoteJson(text)} in ${pointer}`;
  const role = text.trim().toLowerCase();
  if (text === 'editor') return `"editor" stands in ${pointer}: ${ROLES_ARE}`;
  if (/[:/]editor$/.test(role) || role === 'editor')
    return `${said} is not "editor": roles are compared exactly`;
  return role.split(/[\s,;]+/).includes('editor')
    ? `${said} is one role: a string is never split, a list has several`
    : undefined;
}

/** RFC 6901 §3. */
export function toPointer(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
