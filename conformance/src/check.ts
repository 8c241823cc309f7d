/** One thing that a service is held to. */
export interface Check {
  /** What it is about, as the suite calls it: `Routes`. */
  readonly group: string;
  /** What it shows, with the clauses before the dot: `R4 · a wrong method on a known path: 405 …`. */
  readonly name: string;
  readonly run: () => void | Promise<void>;
}

let collected: Check[] = [];
let group = '';

/** The checks that `register` states with `describe` and `test`, in their order. */
export function collect(register: () => void): readonly Check[] {
  collected = [];
  register();
  return collected;
}

/** Groups the checks that `register` states. Within `collect`. */
export function describe(name: string, register: () => void): void {
  group = name;
  register();
}

/** States a check. Within `describe`; it is run later, by whoever collects. */
export function test(name: string, run: Check['run']): void {
  collected.push({ group, name, run });
}
