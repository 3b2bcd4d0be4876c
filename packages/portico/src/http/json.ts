/**
 * Matches an escape sequence in JSON. The group matches only the escape of an unpaired surrogate.
 * `JSON.stringify` writes a surrogate pair as one character, not as an escape.
 */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * Returns a value as JSON, with U+FFFD in place of each unpaired surrogate, also in keys.
 * `JSON.stringify` would write an unpaired surrogate as an escape, which some parsers reject, for
 * example serde_json in Rust (RFC 8259 section 8.2).
 */
export function jsonText(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
  indentation?: number,
): string {
  return withoutHalves(JSON.stringify(value, replacer, indentation));
}

/**
 * Returns the value that a program gets when it parses the result of `jsonText`. If all strings are
 * well-formed, returns the same object.
 */
export function wellFormedJson<Value>(value: Value): Value {
  return hasHalves(value) ? (JSON.parse(jsonText(value)) as Value) : value;
}

/** Whether a JSON value contains a string with an unpaired surrogate. */
export function hasHalves(value: unknown): boolean {
  const json = JSON.stringify(value);
  return withoutHalves(json) !== json;
}

/**
 * Returns undefined if `json` is undefined. `JSON.stringify` returns undefined for values that JSON
 * cannot represent.
 */
function withoutHalves(json: string): string {
  if ((json as string | undefined)?.includes('\\ud') !== true) return json;
  return json.replaceAll(ESCAPES, (escape, half: string | undefined) =>
    half === undefined ? escape : '\uFFFD',
  );
}
