/**
 * An escape of JSON. The group is half of a surrogate pair: `JSON.stringify` writes a whole pair
 * unescaped.
 */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;

/**
 * The JSON text of a value, with U+FFFD for each half of a surrogate pair, in keys too.
 * `JSON.stringify` writes a half as an escape, which readers in Rust and Python refuse (RFC 8259
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
 * The value that a reader of its JSON text gets; the same object if its text is well-formed
 * already.
 */
export function wellFormedJson<Value>(value: Value): Value {
  return hasHalves(value) ? (JSON.parse(jsonText(value)) as Value) : value;
}

/** Whether a JSON value contains text that is not well-formed Unicode. */
export function hasHalves(value: unknown): boolean {
  const json = JSON.stringify(value);
  return withoutHalves(json) !== json;
}

/** Keeps undefined, which `JSON.stringify` returns for values that JSON leaves out. */
function withoutHalves(json: string): string {
  if ((json as string | undefined)?.includes('\\ud') !== true) return json;
  return json.replaceAll(ESCAPES, (escape, half: string | undefined) =>
    half === undefined ? escape : '\uFFFD',
  );
}
