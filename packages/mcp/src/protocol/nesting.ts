/**
 * How deep arrays and objects may be nested in a body. The limit exists because later code may be
 * recursive.
 */
export const DEEPEST = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * Whether JSON nests deeper than `DEEPEST`. Compares bytes, because in UTF-8 no other character
 * contains the bytes for brackets.
 */
export function isTooDeep(json: Uint8Array): boolean {
  // Every level has two brackets.
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
