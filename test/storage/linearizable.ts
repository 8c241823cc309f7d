/** One operation on one todo, as its caller saw it. Times are positions in the order of all events. */
export interface Operation {
  readonly from: number;
  readonly until: number;
  /** What it makes of the todo's state, or `impossible` when it cannot have had its outcome in that state. */
  readonly apply: (state: State) => State | 'impossible';
}

/** The todo's JSON, or undefined when it is not there. */
export type State = { readonly json: string } | undefined;

/**
 * Whether there is an order in which all operations, each at one moment between its call and its answer, have
 * the outcomes that they had (Herlihy and Wing 1990; the search is Wing and Gong's, with memory).
 */
export function isLinearizable(history: readonly Operation[], initial: State): boolean {
  const refuted = new Set<string>();
  const search = (left: readonly Operation[], state: State): boolean => {
    if (left.length === 0) return true;
    const key = `${left.map((operation) => history.indexOf(operation)).join()} ${state?.json}`;
    if (refuted.has(key)) return false;
    const firstAnswer = Math.min(...left.map(({ until }) => until));
    // Only what was called before anything left was answered can come first.
    for (const operation of left.filter(({ from }) => from < firstAnswer)) {
      const next = operation.apply(state);
      const rest = left.filter((other) => other !== operation);
      if (next !== 'impossible' && search(rest, next)) return true;
    }
    refuted.add(key);
    return false;
  };
  return search(history, initial);
}
