/**
 * A map with a maximum size. In a full map, a new entry replaces the oldest one. `touch` makes an
 * entry the newest. `get` does not.
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
      // If `most` is not a number, the loop never breaks and the map stores nothing.
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return value;
  }

  /**
   * Returns an entry's value and makes the entry the newest. Returns undefined if there is no such
   * entry.
   */
  touch(key: Key): Value | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : this.put(key, value);
  }
}
