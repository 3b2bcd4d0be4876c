import { specTypeSchemas, type SpecTypeName, type SpecTypes } from '@modelcontextprotocol/server';

/**
 * The value as this type of the protocol has it; null for one that is none. The only place that asks the SDK's schemas, whose types
 * hide that they may answer with a promise: they do when checking throws, by a value too deep for the stack, and the promise rejects.
 * A promise has no `issues`, so it would count as valid, and its rejection would end the process.
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

/** How many values a client may send of itself: the schemas take up to 200 µs for one, so that 1 MiB would take seconds. */
export const MOST_VALUES = 1000;

/** The same for what a client says of itself, or answers; null also when that has more values than it may. */
export function readShort<Name extends SpecTypeName>(type: Name, value: unknown): SpecTypes[Name] | null {
  return isShort(value) ? readAs(type, value) : null;
}

/** Whether a value has no more values in it than that, or than another number. */
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
