const MEDIA_TYPE =
  /^application\/(?:json|[!#$%&'*+.^_`|~\w-]+\+json)((?:[ \t]*;[ \t]*(?:[!#$%&'*+.^_`|~\w-]+=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?)*)[ \t]*$/i;
const PARAMETER = /;[ \t]*([^=; \t]+)=("(?:[^"\\]|\\.)*"|[^; \t]*)/g;

/**
 * Whether a `Content-Type` names JSON in UTF-8 (contract B2): `application/json` or
 * `application/<something>+json`, with any parameters, and no charset but UTF-8.
 */
export function isJson(contentType: string | undefined): boolean {
  // What nearly every client sends needs no parsing.
  if (contentType === 'application/json') return true;
  const match = MEDIA_TYPE.exec(contentType ?? '');
  if (match === null) return false;
  return Array.from((match[1] ?? '').matchAll(PARAMETER)).every(([, name = '', value = '']) => {
    return name.toLowerCase() !== 'charset' || /^"?utf-8"?$/i.test(value);
  });
}
