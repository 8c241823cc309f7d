/** How many cases a generator makes: few in `npm test`, many in `npm run test:cases`, whose script names files and tests. */
export function cases(few: number, many: number): number {
  return process.env.LONG === '1' ? many : few;
}
