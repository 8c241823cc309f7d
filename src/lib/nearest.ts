/** The name that was most likely meant by an unknown one; undefined when none is near. */
export function nearestTo(name: string, names: Iterable<string>): string | undefined {
  const near = Array.from(names, (known) => ({ known, distance: distance(name, known) }))
    .filter((candidate) => candidate.distance <= name.length / 3)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.known;
}

/** The result of `nearestTo` as the end of a sentence for people; empty when it found none. */
export function didYouMean(nearest: string | undefined): string {
  return nearest === undefined ? '' : `; "${nearest}" may be meant`;
}

/** The Levenshtein distance: characters that must be added, removed or replaced. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
