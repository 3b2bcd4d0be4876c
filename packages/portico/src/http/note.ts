/**
 * A value that goes with an object of another library's, such as a Request, and that only the owner of the note sees. It is a property of
 * the object, under a symbol. A WeakMap would do the same, but each of its entries costs the garbage collector time at every
 * collection: four of them were a quarter of an introspection.
 */
export class Note<T> {
  readonly #key: symbol;

  constructor(description: string) {
    this.#key = Symbol(description);
  }

  /** Undefined for an object that has none. */
  of(object: object): T | undefined {
    return (object as Noted<T>)[this.#key];
  }

  /** Replaces what it had. */
  set(object: object, value: T): void {
    (object as Noted<T>)[this.#key] = value;
  }
}

type Noted<T> = { [key: symbol]: T | undefined };
