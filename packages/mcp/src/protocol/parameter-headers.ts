import type { JsonSchema } from '../tools/tool-description.ts';

const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;
const ENCODED = /^=\?base64\?.*\?=$/;
/** Matches text that every proxy forwards unchanged. */
const PLAIN = /^[\t\x20-\x7e]*$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a header that repeats a string from the body (MCP 2026-07-28, Value Encoding). Returns
 * null if the header is missing or malformed.
 */
export function decoded(field: string | null): string | null {
  if (field === null || !PLAIN.test(field)) return null;
  if (!ENCODED.test(field)) return field;
  const [, text] = BASE64.exec(field) ?? [];
  if (text === undefined) return null;
  try {
    return UTF8.decode(Buffer.from(text, 'base64'));
  } catch {
    return null;
  }
}

/**
 * A tool argument that clients repeat in a header `Mcp-Param-…` (MCP 2026-07-28, Custom Headers
 * from Tool Parameters).
 */
interface RepeatedArgument {
  readonly path: readonly string[];
  readonly header: string;
}

/**
 * Returns the name of the first header that does not match its argument, or null if all headers
 * match.
 */
export function unrepeated(schema: JsonSchema, args: unknown, headers: Headers): string | null {
  const wrong = repeatedArguments(schema).find(({ path, header }) => {
    const value = valueAt(args, path);
    // If the argument is missing, the header must also be missing, because a proxy may have used
    // the header's value.
    if (value === null || value === undefined) return headers.has(header);
    return !repeats(decoded(headers.get(header)), value);
  });
  return wrong?.header ?? null;
}

/**
 * Whether the header matches the argument, which is a string, an integer or a boolean. Integers are
 * compared as numbers, so 42 and 42.0 match.
 */
function repeats(field: string | null, value: unknown): boolean {
  if (typeof value === 'string') return field === value;
  if (typeof value === 'boolean') return field === String(value);
  if (typeof value !== 'number') return true;
  // Reject integers outside the safe range, because two different ones can become the same number.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return false;
  return field !== null && /^-?\d+(?:\.\d+)?$/.test(field) && Number(field) === value;
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

const KEYWORD = 'x-mcp-header';
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** The schema keywords that contain a value instead of a schema. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', KEYWORD]);

const known = new WeakMap<JsonSchema, readonly RepeatedArgument[]>();

/**
 * Returns the arguments that the schema marks with `x-mcp-header`. Throws if a header cannot repeat
 * a marked argument, because clients would not offer such a tool.
 */
export function repeatedArguments(schema: JsonSchema): readonly RepeatedArgument[] {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const found: RepeatedArgument[] = [];
  visit(schema, [], found);
  if (new Set(found.map(({ header }) => header)).size < found.length) {
    throw new Error(`uses the same ${KEYWORD} twice`);
  }
  known.set(schema, found);
  return found;
}

/**
 * Adds all marked arguments in `schema` to `found`. `path` is null for an argument without a fixed
 * place, for example in an array, in a choice, or behind a reference.
 */
function visit(schema: unknown, path: readonly string[] | null, found: RepeatedArgument[]): void {
  if (Array.isArray(schema)) for (const each of schema) visit(each, null, found);
  if (!isObject(schema)) return;
  if (KEYWORD in schema) found.push(repeatedArgument(schema, path));
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.has(keyword)) continue;
    if (keyword !== 'properties') visit(value, null, found);
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) visit(each, path && [...path, name], found);
    }
  }
}

function repeatedArgument(schema: JsonSchema, path: readonly string[] | null): RepeatedArgument {
  const name = schema[KEYWORD];
  if (typeof name !== 'string' || !FIELD_NAME.test(name)) {
    throw new Error(`has an ${KEYWORD} that is not a valid header name`);
  }
  if (path === null || path.length === 0 || !TYPES.includes(schema['type'])) {
    throw new Error(
      `has an ${KEYWORD} on a property that is not a string, integer or boolean: ${name}`,
    );
  }
  return { path, header: `mcp-param-${name.toLowerCase()}` };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
