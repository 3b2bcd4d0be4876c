/**
 * Attaches values to objects from other libraries, for example to a Request. Only code with the
 * Note can read its values.
 *
 * The value is a property of the other object, with a symbol as the key. A WeakMap would slow down
 * garbage collection: four took a quarter of the time of an introspection request.
 */
export class Note<T> {
  readonly #key: symbol;

  constructor(description: string) {
    this.#key = Symbol(description);
  }

  /** Returns the attached value, or undefined. */
  of(object: object): T | undefined {
    return (object as Noted<T>)[this.#key];
  }

  /** Attaches a value. Replaces an earlier one. */
  set(object: object, value: T): void {
    (object as Noted<T>)[this.#key] = value;
  }
}

type Noted<T> = { [key: symbol]: T | undefined };
