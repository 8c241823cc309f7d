/**
 * A map of bounded weight. What was not asked for lately is forgotten a generation at a time, which costs a
 * hit one look-up and no bookkeeping.
 */
export class Generations<Key, Value> {
  readonly #limit: number;
  readonly #weigh: (value: Value) => number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  /** Of everything that was put into the young generation. */
  #weight = 0;

  /** @param limit Both generations together never weigh more; what is heavier than half of it is not kept. */
  constructor(limit: number, weigh: (value: Value) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    const weight = this.#weigh(value);
    this.delete(key);
    if (weight > this.#limit / 2) return;
    if (this.#weight + weight > this.#limit / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, value);
    this.#weight += weight;
  }

  delete(key: Key): void {
    const young = this.#young.get(key);
    if (young !== undefined) {
      this.#young.delete(key);
      this.#weight -= this.#weigh(young);
    }
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#weight = 0;
  }
}
