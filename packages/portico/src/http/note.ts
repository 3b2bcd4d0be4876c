/**
 * Attaches values to objects of other libraries, for example to a Request. Only code that has the
 * note can read them. The note stores each value as a property with a symbol as its key. Do not use
 * a WeakMap: it slows down garbage collection. Four WeakMaps took a quarter of the time of an
 * introspection request.
 */
export class Note<T> {
  readonly #key: symbol;

  constructor(description: string) {
    this.#key = Symbol(description);
  }

  /** Returns the object's value, or undefined. */
  of(object: object): T | undefined {
    return (object as Noted<T>)[this.#key];
  }

  /** Sets the object's value, and replaces an earlier value. */
  set(object: object, value: T): void {
    (object as Noted<T>)[this.#key] = value;
  }
}

type Noted<T> = { [key: symbol]: T | undefined };
