/**
 * Matches a JSON escape. The group matches an unpaired surrogate: `JSON.stringify` writes it as an
 * escape, but writes a pair as the character.
 */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * Returns a value's JSON text, in which U+FFFD replaces each unpaired surrogate, also in keys.
 * `JSON.stringify` would write an unpaired surrogate as an escape, which readers in Rust and Python
 * reject (RFC 8259 section 8.2).
 */
export function jsonText(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
  indentation?: number,
): string {
  return withoutHalves(JSON.stringify(value, replacer, indentation));
}

/**
 * Returns the value as it would be after it was written as JSON text and read again. Returns the
 * same object if its text is already well-formed.
 */
export function wellFormedJson<Value>(value: Value): Value {
  return hasHalves(value) ? (JSON.parse(jsonText(value)) as Value) : value;
}

/** Whether a JSON value contains text that is not well-formed Unicode. */
export function hasHalves(value: unknown): boolean {
  const json = JSON.stringify(value);
  return withoutHalves(json) !== json;
}

/**
 * Returns undefined unchanged, because `JSON.stringify` returns undefined for values that JSON
 * cannot contain.
 */
function withoutHalves(json: string): string {
  if ((json as string | undefined)?.includes('\\ud') !== true) return json;
  return json.replaceAll(ESCAPES, (escape, half: string | undefined) =>
    half === undefined ? escape : '\uFFFD',
  );
}
