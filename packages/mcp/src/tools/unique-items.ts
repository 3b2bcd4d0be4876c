import type { JsonSchema } from './tool-description.ts';

/** A keyword in place of `uniqueItems`. Its value is always true. */
export const UNIQUE = 'portico:unique';

const SIMPLE: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null'];

/**
 * Replaces `uniqueItems` in a schema by `UNIQUE`. Ajv would compare each item with all others. This
 * takes seconds for thousands of objects, and it calls members such as `valueOf`. If all items have
 * simple types, Ajv itself is fast, so this returns the same schema.
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

/** Returns the positions of two equal items, or null if all items are different. */
function findEqual(items: readonly unknown[]): readonly [number, number] | null {
  const positions = new Map<string, number>();
  let found: readonly [number, number] | null = null;
  for (const [index, item] of items.entries()) {
    const text = canonical(item);
    const before = positions.get(text);
    // Of several equal items, Ajv names the last two.
    if (before !== undefined) found = [before, index];
    positions.set(text, index);
  }
  return found;
}

/** Returns the same text for equal JSON values, whatever the order of their members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`,
    );
    return `{${members.toSorted().join()}}`;
  }
  // `JSON.stringify` writes a number that is too large, such as 1e999, as null.
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

interface KeywordCheck {
  (schema: true, items: readonly unknown[]): boolean;
  errors?: readonly { readonly message: string }[];
}

/** Returns Ajv's definition of `UNIQUE`. */
export function uniqueKeyword(): object {
  const validate: KeywordCheck = (_, items) => {
    const [first, second] = findEqual(items) ?? [];
    if (first === undefined) return true;
    const which = `items ## ${first} and ${second} are identical`;
    validate.errors = [{ message: `must NOT have duplicate items (${which})` }];
    return false;
  };
  return { keyword: UNIQUE, type: 'array', validate };
}
