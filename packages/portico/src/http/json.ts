/**
 * A JSON escape. The group matches half of a surrogate pair: `JSON.stringify` escapes only halves,
 * not whole pairs.
 */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * Returns a value's JSON text. Replaces each half of a surrogate pair with U+FFFD, also in keys.
 * `JSON.stringify` writes a half as an escape, which readers in Rust and Python reject (RFC 8259
 * section 8.2).
 */
export function jsonText(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
  indentation?: number,
): string {
  return withoutHalves(JSON.stringify(value, replacer, indentation));
}

/**
 * Returns the value as it would be after writing and reading its JSON text. Returns the same object
 * if its text is already well-formed.
 */
export function wellFormedJson<Value>(value: Value): Value {
  return hasHalves(value) ? (JSON.parse(jsonText(value)) as Value) : value;
}

/** Whether a JSON value contains text that is not well-formed Unicode. */
export function hasHalves(value: unknown): boolean {
  const json = JSON.stringify(value);
  return withoutHalves(json) !== json;
}

/** Returns undefined unchanged: `JSON.stringify` returns it for values that JSON cannot contain. */
function withoutHalves(json: string): string {
  if ((json as string | undefined)?.includes('\\ud') !== true) return json;
  return json.replaceAll(ESCAPES, (escape, half: string | undefined) =>
    half === undefined ? escape : '\uFFFD',
  );
}
