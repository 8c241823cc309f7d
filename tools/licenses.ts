/** Licenses under which a part may be passed on inside of something else, with its text. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

/** What is wrong with the license of a package, for people, or undefined. */
export function licenseFault(name: string, license: string | undefined): string | undefined {
  if (license !== undefined && ALLOWED.includes(license)) return undefined;
  return `the license of ${name} must be one of ${ALLOWED.join(', ')}, received ${license ?? 'none'}`;
}
