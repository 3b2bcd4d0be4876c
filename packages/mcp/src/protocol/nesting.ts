/**
 * The maximum nesting of arrays and objects in a body. It protects recursive code that reads the
 * body later.
 */
export const DEEPEST = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * Whether JSON nests deeper than `DEEPEST`. Compares bytes, which is safe in UTF-8: no other
 * character contains the bytes of brackets.
 */
export function isTooDeep(json: Uint8Array): boolean {
  // Each level needs two brackets, so a short text cannot exceed the limit.
  if (json.length <= 2 * DEEPEST) return false;
  let depth = 0;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) inText = !inText;
    else if (inText) {
      if (byte === BACKSLASH) index += 1;
    } else if (byte === ARRAY || byte === OBJECT) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (byte === ARRAY_END || byte === OBJECT_END) depth -= 1;
  }
  return false;
}
