/**
 * A map with a maximum number of entries. When the map is full, a new entry replaces the oldest.
 * Reading an entry with `get` does not make it newer. Reading it with `touch` does.
 */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  /** `most` is the maximum number of entries. */
  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** Sets an entry and makes it the newest. Returns its value. */
  put(key: Key, value: Value): Value {
    this.delete(key);
    this.set(key, value);
    for (const oldest of this.keys()) {
      // The condition is also true if `most` is not a number. The map then stores nothing.
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return value;
  }

  /**
   * Returns an entry's value and makes the entry the newest. Returns undefined if there is no
   * entry.
   */
  touch(key: Key): Value | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : this.put(key, value);
  }
}
