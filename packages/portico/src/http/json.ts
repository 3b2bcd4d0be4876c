/**
 * Matches an escape sequence in JSON. The group matches only an unpaired surrogate, because
 * `JSON.stringify` does not escape pairs.
 */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * Returns a value as JSON. Replaces each unpaired surrogate with U+FFFD, also in keys.
 * `JSON.stringify` would escape it, and some parsers reject the escape, for example serde_json in
 * Rust (RFC 8259 section 8.2).
 */
export function jsonText(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
  indentation?: number,
): string {
  return withoutHalves(JSON.stringify(value, replacer, indentation));
}

/**
 * Returns the value that a program gets from the result of `jsonText`. Returns the same object if
 * all strings are well-formed.
 */
export function wellFormedJson<Value>(value: Value): Value {
  return hasHalves(value) ? (JSON.parse(jsonText(value)) as Value) : value;
}

/** Returns true if a string in the value contains an unpaired surrogate. */
export function hasHalves(value: unknown): boolean {
  const json = JSON.stringify(value);
  return withoutHalves(json) !== json;
}

/** `JSON.stringify` returns undefined for values that JSON cannot represent. */
function withoutHalves(json: string): string {
  if ((json as string | undefined)?.includes('\\ud') !== true) return json;
  return json.replaceAll(ESCAPES, (escape, half: string | undefined) =>
    half === undefined ? escape : '\uFFFD',
  );
}
