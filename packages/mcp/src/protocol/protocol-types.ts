import { specTypeSchemas, type SpecTypeName, type SpecTypes } from '@modelcontextprotocol/server';

/**
 * Returns the value as this protocol type, or null if it does not match. Use the SDK's schemas only
 * through this function. If a schema throws, for example because deep nesting overflows the stack,
 * it returns a rejected promise, which its type does not show. The promise has no `issues`, so the
 * value would seem valid, and the unhandled rejection would end the process.
 */
export function readAs<Name extends SpecTypeName>(
  type: Name,
  value: unknown,
): SpecTypes[Name] | null {
  const checked: Checked<SpecTypes[Name]> | Promise<unknown> =
    specTypeSchemas[type]['~standard'].validate(value);
  if (checked instanceof Promise) {
    checked.catch(() => {});
    return null;
  }
  return checked.issues === undefined ? checked.value : null;
}

/**
 * The maximum number of values in what a client says about itself. The schemas need up to 200 µs
 * for each value, so checking 1 MiB would take seconds.
 */
export const MOST_VALUES = 1000;

/**
 * Like `readAs`, but also returns null if there are too many values. Use this function for what a
 * client says about itself and for its answers.
 */
export function readShort<Name extends SpecTypeName>(
  type: Name,
  value: unknown,
): SpecTypes[Name] | null {
  return isShort(value) ? readAs(type, value) : null;
}

/** Whether a value contains at most `most` values, including nested ones. */
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

type Checked<Value> =
  { readonly value: Value; readonly issues?: undefined } | { readonly issues: object };
