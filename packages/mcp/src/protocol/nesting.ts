/**
 * The maximum depth of nested arrays and objects in a body. It protects the recursive code that
 * later processes the body.
 */
export const DEEPEST = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * Whether JSON is nested deeper than `DEEPEST`. Comparing bytes is safe, because in UTF-8 no other
 * character contains the byte of a bracket.
 */
export function isTooDeep(json: Uint8Array): boolean {
  // Each level takes at least two brackets, so a short text cannot be too deep.
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
