import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { isShort } from '../protocol/protocol-types.ts';
import type { JsonSchema } from './tool-description.ts';
import { replaceUniqueItems, UniqueItems } from './unique-items.ts';

/** A function that returns the problem with a value, or null if the value is valid. */
export type Check = (value: unknown) => string | null;

/**
 * Compiles a schema into a function that checks values. This function returns `otherwise` if the
 * validator does not describe the problem. Throws if the schema is invalid.
 *
 * For a small value, the function returns all problems. For a large value, it returns only the
 * first one, because there could be many thousands. With a recursive schema, their number can
 * double with each level.
 */
export function schemaCheck(
  schema: JsonSchema,
  otherwise = 'It does not match the schema.',
): Check {
  // Reject `$async`, which is an Ajv extension and not part of JSON Schema. Validation would return
  // a promise, which would look like a valid result.
  if ('$async' in schema) throw new Error('$async is not a JSON Schema keyword');
  if (!isPlain(schema))
    throw new Error('it is not plain JSON. For a schema of Zod, return z.toJSONSchema(schema)');
  const findFirst = compile(copySchema(schema, referencesLast), false, otherwise);
  // Compile this check only when a small value does not match, because most tools never need it.
  let all: Check | null = null;
  const findAll: Check = (value) => (all ??= compile(copySchema(schema), true, otherwise))(value);
  return (value) => {
    try {
      const first = findFirst(value);
      if (first === null) return null;
      const problem = isSmall(value) ? (findAll(value) ?? first) : first;
      return problem.length <= LONGEST_PROBLEM ? problem : otherwise;
    } catch {
      // Either Ajv failed to compare objects with a member such as `valueOf`, or the value would
      // need too many visits.
      return otherwise;
    }
  };
}

/**
 * The maximum length of an error text, in characters. If all alternatives of a schema fail, the
 * validator lists the problems of each one.
 */
const LONGEST_PROBLEM = 10_000;

/**
 * Compiles a schema with a separate validator. If two schemas with the same `$id` shared a
 * validator, it would use the first schema for both.
 */
function compile(schema: object, allErrors: boolean, otherwise: string): Check {
  const validator = new AjvJsonSchemaValidator();
  const visits = new Visits();
  const uniqueItems = new UniqueItems();
  followJsonSchema(validator, { schema, allErrors, visits, uniqueItems });
  const validate = validator.getValidator(schema);
  return (value) => {
    visits.begin();
    uniqueItems.begin();
    const result = validate(value);
    return result.valid ? null : (result.errorMessage ?? otherwise);
  };
}

/**
 * The name of a keyword that is added next to each reference. It counts how often the validator
 * follows references.
 */
const VISIT = 'portico:visit';
/**
 * The maximum number of visits in one check. They take part of a second. With a useful schema, even
 * a value of 1 MiB needs far fewer.
 */
const MOST_VISITS = 200_000;

/**
 * Limits how often one check follows references. In a recursive schema with several equally good
 * alternatives, the number of visits doubles with each level of the value.
 */
class Visits {
  #count = 0;

  begin(): void {
    this.#count = 0;
  }

  /** Counts one visit. Throws if this check has reached the maximum. */
  count(): true {
    this.#count += 1;
    if (this.#count > MOST_VISITS) throw new Error('The value needs too many visits');
    return true;
  }
}

/**
 * A value is small if it contains at most this many values and has at most
 * `LEVELS_OF_A_SMALL_VALUE` levels.
 */
const MOST_OF_A_SMALL_VALUE = 100;
const LEVELS_OF_A_SMALL_VALUE = 4;

function isSmall(value: unknown): boolean {
  return isShort(value, MOST_OF_A_SMALL_VALUE) && isShallow(value, LEVELS_OF_A_SMALL_VALUE);
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1));
}

/**
 * Whether a value consists only of plain objects, lists and simple values. Ajv ignores the members
 * of other objects, such as a Zod schema, and would then accept every value.
 */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  if (Array.isArray(value)) return value.every(isPlain);
  const prototype: unknown = Object.getPrototypeOf(value);
  // Also accept plain objects from another realm, such as those of some test runners. Their
  // prototype is a different object.
  const isPlainObject = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlainObject && Object.values(value).every(isPlain);
}

/** The schema keywords that contain a value instead of a schema. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** The schema keywords that contain an object with a schema, or a list of names, for each name. */
const NAMED: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

const DYNAMIC_REFERENCES = ['$dynamicRef', '$recursiveRef'];
const REFERENCES = ['$ref', ...DYNAMIC_REFERENCES];

/**
 * Copies a schema. Removes `nullable`, which Ajv supports although it is not part of JSON Schema.
 * Adds `VISIT` next to each reference, and replaces `uniqueItems`. `order` sorts the members of
 * each object.
 */
function copySchema(schema: object, order = (members: object): object => members): object {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    return typeof value === 'object' && value !== null ? copySchema(value, order) : value;
  };
  const copied = mapMembers(schema, (value, keyword) => {
    if (VALUES.has(keyword)) return value;
    if (keyword === 'nullable') return undefined;
    const isNamed = NAMED.has(keyword) && typeof value === 'object' && value !== null;
    return isNamed ? order(mapMembers(value, copy)) : copy(value);
  });
  const refers = REFERENCES.some((keyword) => Object.hasOwn(schema, keyword));
  const replaced = replaceUniqueItems(copied);
  return order(refers ? { [VISIT]: true, ...replaced } : replaced);
}

/**
 * Moves members with references to the end. A validator that stops at the first problem then checks
 * everything else before it follows a reference. For example, the alternatives of a recursive
 * schema often differ in a constant. The order does not change the meaning of the schema.
 */
function referencesLast(members: object): object {
  const refers = (value: unknown) => Number(JSON.stringify(value).includes(`"${VISIT}":`));
  return Object.fromEntries(
    Object.entries(members).toSorted(([, a], [, b]) => refers(a) - refers(b)),
  );
}

/**
 * Copies an object and changes the value of each member. Omits members whose new value is
 * undefined.
 */
function mapMembers(
  members: object,
  change: (value: unknown, name: string) => unknown,
): JsonSchema {
  const changed = Object.entries(members).map(([name, value]) => [name, change(value, name)]);
  return Object.fromEntries(changed.filter(([, value]) => value !== undefined)) as JsonSchema;
}

/**
 * The maximum length of a string with the format `url`. Ajv supports this format in addition to
 * `uri`.
 */
const LONGEST_URL = 2048;

/** Keywords that Ajv supports or rejects, although they are not part of JSON Schema. */
const OF_AJV_ALONE = [
  'formatExclusiveMaximum',
  'formatExclusiveMinimum',
  'formatMaximum',
  'formatMinimum',
  'id',
];

/** The parts of Ajv that `followJsonSchema` changes. */
interface Engine {
  readonly opts: { ownProperties?: boolean; allErrors?: boolean };
  getKeyword(keyword: string): object | boolean;
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: object): unknown;
  readonly formats: Readonly<Record<string, unknown>>;
  addFormat(name: string, isValid: (text: string) => boolean): unknown;
}

/**
 * Makes Ajv follow JSON Schema. By default, Ajv treats inherited members such as `constructor` as
 * members of every object, and does not accept 19.99 as a multiple of 0.01. The SDK has no options
 * for this, so this function calls the internal method that returns the SDK's Ajv instance.
 */
function followJsonSchema(
  validator: AjvJsonSchemaValidator,
  {
    schema,
    allErrors,
    visits,
    uniqueItems,
  }: {
    readonly schema: object;
    readonly allErrors: boolean;
    readonly visits: Visits;
    readonly uniqueItems: UniqueItems;
  },
): void {
  const choose: unknown = Reflect.get(validator, '_engineFor');
  // Without this method, the limits would not apply, and a caller could block the process.
  if (typeof choose !== 'function') {
    throw new Error(
      '@modelcontextprotocol/server of this version cannot limit the work of a schema; install 2.4.0',
    );
  }
  const engine = choose.call(validator, schema) as Engine;
  engine.opts.ownProperties = true;
  engine.opts.allErrors = allErrors;
  for (const keyword of [...OF_AJV_ALONE, 'multipleOf']) engine.removeKeyword(keyword);
  for (const keyword of DYNAMIC_REFERENCES) moveToEnd(engine, keyword);
  const { url } = engine.formats;
  // Limit the length, because the time that this pattern needs grows with the square of the length.
  if (url instanceof RegExp)
    engine.addFormat('url', (text) => text.length <= LONGEST_URL && url.test(text));
  engine.addKeyword(uniqueItems.keyword());
  engine.addKeyword({ keyword: VISIT, before: '$ref', validate: () => visits.count() });
  engine.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (step: number, value: number) => isMultiple(value, step),
    error: {
      message: ({ schema: step }: { readonly schema: number }) => `must be multiple of ${step}`,
    },
  });
}

/**
 * Makes Ajv check a keyword after the others that apply to every type. If Ajv stops at the first
 * problem, it ignores what follows a dynamic reference, such as `const` and `VISIT`.
 */
function moveToEnd(engine: Engine, keyword: string): void {
  const definition = engine.getKeyword(keyword);
  if (typeof definition !== 'object') return;
  engine.removeKeyword(keyword);
  engine.addKeyword(definition);
}

/**
 * Whether the value is a multiple of the step. Allows for the rounding of binary fractions, but for
 * no other difference.
 */
function isMultiple(value: number, step: number): boolean {
  const nearest = Math.round(value / step) * step;
  return value % step === 0 || Number(nearest.toPrecision(15)) === value;
}
