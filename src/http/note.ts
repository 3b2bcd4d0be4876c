/** A value that goes with an object of somebody else's, such as a Request, and that nobody else sees. */
export interface Note<T> {
  /** Undefined for an object that has none. */
  of(object: object): T | undefined;
  /** Replaces what it had. */
  set(object: object, value: T): void;
}

/**
 * A note is a property of the object, under a symbol that only its owner has. A WeakMap would do the same, but each of its
 * entries costs the garbage collector time at every collection: four of them were a quarter of an introspection.
 */
export function createNote<T>(description: string): Note<T> {
  const key = Symbol(description);
  type Noted = { [key]?: T };
  return {
    of: (object: Noted) => object[key],
    set(object: Noted, value) {
      object[key] = value;
    },
  };
}
