/** Reasons of one outage that are told, at most: one may have a port or a time in it. */
const MAX_REASONS = 10;

/**
 * An outage, by the rule of docs/logging.md. Takes the reason why something fails now, or undefined while all is well.
 *
 * @returns whether that is told: where an outage begins, for each of its reasons once, and where it ends.
 */
export function followOutage(): (reason: string | undefined) => boolean {
  const told = new Set<string>();
  return (reason) => {
    const { size } = told;
    if (reason === undefined) told.clear();
    else if (size < MAX_REASONS) told.add(reason);
    return told.size !== size;
  };
}
