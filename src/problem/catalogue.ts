import { STATUS_CODES } from '../node-http.ts';

/** Sections of RFC 9110 that define a 4xx or 5xx status code. */
const SECTIONS: ReadonlyMap<number, string> = new Map([
  [400, '15.5.1'],
  [401, '15.5.2'],
  [402, '15.5.3'],
  [403, '15.5.4'],
  [404, '15.5.5'],
  [405, '15.5.6'],
  [406, '15.5.7'],
  [407, '15.5.8'],
  [408, '15.5.9'],
  [409, '15.5.10'],
  [410, '15.5.11'],
  [411, '15.5.12'],
  [412, '15.5.13'],
  [413, '15.5.14'],
  [414, '15.5.15'],
  [415, '15.5.16'],
  [416, '15.5.17'],
  [417, '15.5.18'],
  [421, '15.5.20'],
  [422, '15.5.21'],
  [426, '15.5.22'],
  [500, '15.6.1'],
  [501, '15.6.2'],
  [502, '15.6.3'],
  [503, '15.6.4'],
  [504, '15.6.5'],
  [505, '15.6.6'],
]);

/** Where Node.js still has the phrase of an RFC that RFC 9110 obsoleted. */
const RENAMED: ReadonlyMap<number, string> = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content'],
]);

/** `type` of a status code (contract P3), or undefined for one that RFC 9110 does not define. */
export function typeOf(status: number): string | undefined {
  const section = SECTIONS.get(status);
  return section === undefined ? undefined : `https://tools.ietf.org/html/rfc9110#section-${section}`;
}

/** The reason phrase of a status code, or undefined for an unknown one. */
export function reasonPhrase(status: number): string | undefined {
  return RENAMED.get(status) ?? STATUS_CODES[status];
}

/** `title` where the endpoint gives none: the reason phrase, or the specification's sentence for 500 (P4). */
export function titleOf(status: number): string | undefined {
  return status === 500 ? 'An error occurred while processing your request.' : reasonPhrase(status);
}
