/**
 * A word of the command line that counts something: 1 to 999,999,999, `otherwise` when it is missing. Anything
 * else, `--help` too, ends the program with its usage and 2, because a run of nothing finds nothing.
 */
export function readCount(word: string | undefined, otherwise: number, usage: string): number {
  if (word === undefined) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  process.stderr.write(`Usage: ${usage}\n`);
  process.exit(2);
}
