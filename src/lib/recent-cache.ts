/**
 * A map of bounded weight: an approximate LRU in two maps. What was used lately is in the young one. When the
 * young one has half of the limit, it becomes the old one, and what was old is dropped. A hit costs a look-up or two.
 */
export class RecentCache<Key, Value> {
  readonly #limit: number;
  readonly #weigh: (key: Key, value: Value) => number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  /** The sum of all entries in the young map, and in the old one. */
  #weight = 0;
  #oldWeight = 0;

  /** @param limit Both maps together never weigh more; what is heavier than half of it is not kept. */
  constructor(limit: number, weigh: (key: Key, value: Value) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** The sum of all entries. */
  get weight(): number {
    return this.#weight + this.#oldWeight;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    const weight = this.#weigh(key, value);
    this.delete(key);
    if (weight > this.#limit / 2) return;
    if (this.#weight + weight > this.#limit / 2) {
      this.#old = this.#young;
      this.#oldWeight = this.#weight;
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
      this.#weight -= this.#weigh(key, young);
    }
    const old = this.#old.get(key);
    if (old !== undefined) {
      this.#old.delete(key);
      this.#oldWeight -= this.#weigh(key, old);
    }
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#weight = 0;
    this.#oldWeight = 0;
  }
}
