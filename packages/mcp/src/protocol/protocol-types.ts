import { specTypeSchemas, type SpecTypeName, type SpecTypes } from '@modelcontextprotocol/server';

/**
 * The value as this type of the protocol, or null if it does not match. Only this function calls
 * the SDK's schemas. Their types hide that they may return a promise: they do when a check throws,
 * as for a value too deep for the stack, and the promise rejects. A promise has no `issues`, so it
 * would count as valid, and its rejection would end the process.
 */
export function readAs<Name extends SpecTypeName>(type: Name, value: unknown): SpecTypes[Name] | null {
  const checked: Checked<SpecTypes[Name]> | Promise<unknown> =
    specTypeSchemas[type]['~standard'].validate(value);
  if (checked instanceof Promise) {
    checked.catch(() => {});
    return null;
  }
  return checked.issues === undefined ? checked.value : null;
}

/**
 * How many values a client's self-description may have. The schemas take up to 200 µs for one, so 1
 * MiB would take seconds.
 */
export const MOST_VALUES = 1000;

/**
 * As `readAs`, for what a client says about itself or answers. Null also when it has too many
 * values.
 */
export function readShort<Name extends SpecTypeName>(type: Name, value: unknown): SpecTypes[Name] | null {
  return isShort(value) ? readAs(type, value) : null;
}

/** Whether a value contains at most `most` values, at all levels. */
export function isShort(value: unknown, most = MOST_VALUES): boolean {
  const found = [value];
  for (const each of found) {
    if (typeof each !== 'object' || each === null) continue;
    const members: readonly unknown[] = Object.values(each);
    if (found.length + members.length > most) return false;
    found.push(...members);
  }
  return true;
}

type Checked<Value> = { readonly value: Value; readonly issues?: undefined } | { readonly issues: object };
