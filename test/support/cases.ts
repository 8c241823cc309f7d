/** How many cases a generator makes: few in `npm test`, many in `npm run test:long`, whose script names its files. */
export function cases(few: number, many: number): number {
  return process.env.LONG === undefined ? few : many;
}
