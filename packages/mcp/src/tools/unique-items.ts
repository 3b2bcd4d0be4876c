import type { JsonSchema } from './tool-description.ts';

/** The keyword that replaces `uniqueItems` in a schema. Its value is always true. */
export const UNIQUE = 'portico:unique';

const SIMPLE: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null'];

/**
 * Replaces `uniqueItems` in a schema with `UNIQUE`. Ajv would compare each item with every other
 * item, which takes seconds for thousands of objects and calls members such as `valueOf`. If all
 * items have simple types, Ajv is fast enough, and the schema is returned unchanged.
 */
export function replaceUniqueItems(schema: JsonSchema): JsonSchema {
  const { uniqueItems, ...others } = schema;
  return uniqueItems === true && !hasSimpleItems(schema) ? { ...others, [UNIQUE]: true } : schema;
}

function hasSimpleItems({ items, prefixItems }: JsonSchema): boolean {
  if (typeof items !== 'object' || items === null || prefixItems !== undefined) return false;
  const types = 'type' in items ? [items.type].flat() : [];
  return types.length > 0 && types.every((type) => SIMPLE.includes(type));
}

interface KeywordCheck {
  (schema: true, items: readonly unknown[]): boolean;
  errors?: readonly { readonly message: string }[];
}

/** Finds equal items in lists. During one check, converts each object to text only once. */
export class UniqueItems {
  #texts = new WeakMap<object, string>();

  /** Forgets the values from the previous check, because a tool may have changed them since. */
  begin(): void {
    this.#texts = new WeakMap();
  }

  /** Returns the definition of the keyword `UNIQUE` for Ajv. */
  keyword(): object {
    const validate: KeywordCheck = (_, items) => {
      const [first, second] = this.#findEqual(items) ?? [];
      if (first === undefined) return true;
      const which = `items ## ${first} and ${second} are identical`;
      validate.errors = [{ message: `must NOT have duplicate items (${which})` }];
      return false;
    };
    return { keyword: UNIQUE, type: 'array', validate };
  }

  /** Returns the positions of two equal items, or null if all items are different. */
  #findEqual(items: readonly unknown[]): readonly [number, number] | null {
    if (items.length < 2) return null;
    const positions = new Map<string, number>();
    let found: readonly [number, number] | null = null;
    for (const [index, item] of items.entries()) {
      const text = this.#textOf(item);
      const before = positions.get(text);
      // If several items are equal, Ajv reports the last two, so do the same.
      if (before !== undefined) found = [before, index];
      positions.set(text, index);
    }
    return found;
  }

  /**
   * Returns a text that is the same for equal JSON values, regardless of the order of their
   * members.
   */
  #textOf(value: unknown): string {
    // Do not use `JSON.stringify` for numbers, because it writes a number that is too large, such
    // as 1e999, as null.
    if (typeof value !== 'object' || value === null)
      return typeof value === 'string' ? JSON.stringify(value) : String(value);
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const text = Array.isArray(value)
      ? `[${value.map((each) => this.#textOf(each)).join()}]`
      : `{${this.#membersOf(value).join()}}`;
    this.#texts.set(value, text);
    return text;
  }

  #membersOf(value: object): readonly string[] {
    const members = Object.entries(value).map(
      ([name, each]) => `${JSON.stringify(name)}:${this.#textOf(each)}`,
    );
    return members.toSorted();
  }
}
