import { draft, forge } from './forge.ts';

/** Good tokens of callers who may read and not write (specification, Authentication 3 and 4). */
export function notEditors(): readonly { readonly what: string; readonly token: string }[] {
  return ROLE_CLAIMS.map(([what, claims]) => ({ what, token: withoutRole(claims) }));
}

function withoutRole(claims: string): string {
  const made = draft();
  const rest = JSON.stringify({ ...made.claims, role: undefined });
  return forge(made, { claims: claims === '' ? rest : `${rest.slice(0, -1)},${claims}}` });
}

const ROLE_CLAIMS: readonly (readonly [what: string, claims: string])[] = [
  ['no role', ''],
  ['another role', '"role":"reader"'],
  ['Editor', '"role":"Editor"'],
  ['EDITOR', '"role":"EDITOR"'],
  ['a blank before', '"role":" editor"'],
  ['a blank after', '"role":"editor "'],
  ['a zero byte after', '"role":"editor\\u0000"'],
  ['a letter that looks alike', '"role":"\\u0435ditor"'],
  ['roles in one string with a comma', '"role":"reader,editor"'],
  ['roles in one string with a blank', '"role":"reader editor"'],
  ['roles in a string of JSON', '"role":"[\\"editor\\"]"'],
  ['a list in a list', '"roles":[["editor"]]'],
  ['a list of objects', '"roles":[{"name":"editor"}]'],
  ['an object with the role as name', '"role":{"editor":true}'],
  ['an object that looks like a list', '"roles":{"0":"editor","length":1}'],
  ['a list of letters', '"role":["e","d","i","t","o","r"]'],
  ['an empty list', '"roles":[]'],
  ['null', '"role":null'],
  ['a scope', '"scope":"editor","scp":["editor"]'],
  ['groups', '"groups":["editor"]'],
  ['the name', '"name":"editor"'],
  ['Role and ROLES', '"Role":"editor","ROLES":["editor"]'],
  ['roles of a realm that nobody configured', '"realm_access":{"roles":["editor"]}'],
  ['an inherited role', '"__proto__":{"role":"editor","roles":["editor"]}'],
  ['a role of the constructor', '"constructor":{"prototype":{"role":"editor"}}'],
];
