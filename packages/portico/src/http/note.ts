/**
 * A value attached to an object of another library, such as a Request. Only the owner of the note
 * sees it. It is a property of the object under a symbol. A WeakMap would work too, but each of its
 * entries costs time at every garbage collection: four of them took a quarter of an introspection.
 */
export class Note<T> {
  readonly #key: symbol;

  constructor(description: string) {
    this.#key = Symbol(description);
  }

  /** The value, or undefined if the object has none. */
  of(object: object): T | undefined {
    return (object as Noted<T>)[this.#key];
  }

  /** Replaces the old value. */
  set(object: object, value: T): void {
    (object as Noted<T>)[this.#key] = value;
  }
}

type Noted<T> = { [key: symbol]: T | undefined };
