/** The maximum nesting depth of the JSON in a body. */
const DEEPEST = 512;

/** The reason why a body contains no JSON value for this API. */
export type JsonProblem = 'not JSON by its media type' | 'malformed';

/** Returns the JSON value of a request, or the reason why it contains none. */
export async function readJson(
  request: Request,
): Promise<{ readonly value: unknown } | { readonly problem: JsonProblem }> {
  const mediaType = (request.headers.get('content-type') ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase();
  if (mediaType !== 'application/json') return { problem: 'not JSON by its media type' };
  const bytes = await request.arrayBuffer();
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (depthOf(text) > DEEPEST) return { problem: 'malformed' };
    const value = JSON.parse(text) as unknown;
    return isWellFormed(value) ? { value } : { problem: 'malformed' };
  } catch {
    return { problem: 'malformed' };
  }
}

/**
 * Returns the nesting depth of the JSON text. Counts the brackets outside of strings, and reads
 * each character only once, so that no text takes long.
 */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') inString = !inString;
    else if (inString) {
      if (character === '\\') index += 1;
    } else if (character === '[' || character === '{') {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

/**
 * Returns whether every text in the value can be written as UTF-8. A lone escape such as \ud800
 * cannot, because it is not a character.
 */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, each]) => key.isWellFormed() && isWellFormed(each));
}
