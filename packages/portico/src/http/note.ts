/**
 * Attaches values to objects of other libraries, such as a Request. Only code that has the note can
 * read them. The value is a property under a symbol. A WeakMap would also work, but each of its
 * entries costs time at every garbage collection: four WeakMaps took a quarter of an
 * introspection's time.
 */
export class Note<T> {
  readonly #key: symbol;

  constructor(description: string) {
    this.#key = Symbol(description);
  }

  /** Returns the object's value, or undefined if it has none. */
  of(object: object): T | undefined {
    return (object as Noted<T>)[this.#key];
  }

  /** Sets the object's value. Replaces an earlier value. */
  set(object: object, value: T): void {
    (object as Noted<T>)[this.#key] = value;
  }
}

type Noted<T> = { [key: symbol]: T | undefined };
