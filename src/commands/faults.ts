/**
 * Says every fault of a configuration, a line each. The result is the exit code.
 *
 * @param action For people, after "Cannot".
 */
export function sayFaults(action: string, faults: readonly string[]): 78 {
  const lines = faults.map((fault) => `  ${fault}\n`).join('');
  process.stderr.write(`Cannot ${action}, the configuration has faults:\n${lines}`);
  return 78;
}
