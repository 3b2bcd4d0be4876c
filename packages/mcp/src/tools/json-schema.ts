import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { isShort } from '../protocol/protocol-types.ts';
import type { JsonSchema } from './tool-description.ts';
import { replaceUniqueItems, UniqueItems } from './unique-items.ts';

/** Returns the problem with a value, or null if the value is valid. */
export type Check = (value: unknown) => string | null;

/**
 * Compiles a schema. `otherwise` is the problem to return if the validator names no problem. Throws
 * for an invalid schema.
 *
 * The check finds all problems of a small value, and only the first problem of a large value. A
 * large value may have many thousands of problems. With a recursive schema, their number can double
 * with each level.
 */
export function schemaCheck(
  schema: JsonSchema,
  otherwise = 'It does not match the schema.',
): Check {
  // `$async` is an Ajv extension and not part of JSON Schema. Validation would return a promise,
  // which would look like a valid result.
  if ('$async' in schema) throw new Error('$async is not a JSON Schema keyword');
  if (!isPlain(schema))
    throw new Error('it is not plain JSON. For a schema of Zod, return z.toJSONSchema(schema)');
  const findFirst = compile(copySchema(schema, referencesLast), false, otherwise);
  // Compiled for the first small value that does not match, because most tools never need it.
  let all: Check | null = null;
  const findAll: Check = (value) => (all ??= compile(copySchema(schema), true, otherwise))(value);
  return (value) => {
    try {
      const first = findFirst(value);
      if (first === null) return null;
      const problem = isSmall(value) ? (findAll(value) ?? first) : first;
      return problem.length <= LONGEST_PROBLEM ? problem : otherwise;
    } catch {
      // Ajv fails to compare objects that have a member such as `valueOf`. Or the value would need
      // too many visits.
      return otherwise;
    }
  };
}

/** Of alternatives that all fail, the validator names all problems. */
const LONGEST_PROBLEM = 10_000;

/**
 * Compiles a schema with a separate validator. A shared validator would confuse two schemas with
 * the same `$id`: it would use the first schema for both.
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

/** A keyword next to each reference. It counts how often the validator follows references. */
const VISIT = 'portico:visit';
/** A value of 1 MiB with a useful schema needs far fewer visits. They take part of a second. */
const MOST_VISITS = 200_000;

/**
 * Limits how often one check follows references. If several alternatives of a recursive schema fit
 * equally well, each level of the value doubles the number of visits.
 */
class Visits {
  #count = 0;

  begin(): void {
    this.#count = 0;
  }

  /** Throws if this check has used up its visits. */
  count(): true {
    this.#count += 1;
    if (this.#count > MOST_VISITS) throw new Error('The value needs too many visits');
    return true;
  }
}

/** The check finds all problems of a value with at most this many values and levels. */
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
 * Whether a value has only plain objects, lists and simple values. Ajv ignores the members of other
 * objects, such as a schema of Zod, and would accept every value.
 */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  if (Array.isArray(value)) return value.every(isPlain);
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of plain objects may be that of another realm, as in some test runners.
  const isPlainObject = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlainObject && Object.values(value).every(isPlain);
}

/** Keywords whose content is a value and not a schema. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose content is an object with one schema for each name. */
const NAMED: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/**
 * Copies a schema without `nullable`: JSON Schema does not have this keyword, but Ajv follows it.
 * Adds `VISIT` next to each reference, and replaces `uniqueItems`. `order` puts the members of each
 * object in order.
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
 * Puts members with references last, because a validator that stops at the first problem should try
 * everything else before it recurses. For example, the alternatives of a recursive schema often
 * differ in a constant. The order of members has no other meaning.
 */
function referencesLast(members: object): object {
  const refers = (value: unknown) => Number(JSON.stringify(value).includes(`"${VISIT}":`));
  return Object.fromEntries(
    Object.entries(members).toSorted(([, a], [, b]) => refers(a) - refers(b)),
  );
}

/** Copies an object with other values. Leaves out members whose value is undefined. */
function mapMembers(
  members: object,
  change: (value: unknown, name: string) => unknown,
): JsonSchema {
  const changed = Object.entries(members).map(([name, value]) => [name, change(value, name)]);
  return Object.fromEntries(changed.filter(([, value]) => value !== undefined)) as JsonSchema;
}

/** The maximum length of a text with the format `url`, which Ajv knows besides `uri`. */
const LONGEST_URL = 2048;

/** Keywords that Ajv follows or refuses, although JSON Schema does not have them. */
const OF_AJV_ALONE = [
  'formatExclusiveMaximum',
  'formatExclusiveMinimum',
  'formatMaximum',
  'formatMinimum',
  'id',
];

/** The parts of Ajv that are changed here. */
interface Engine {
  readonly opts: { ownProperties?: boolean; allErrors?: boolean };
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: object): unknown;
  readonly formats: Readonly<Record<string, unknown>>;
  addFormat(name: string, isValid: (text: string) => boolean): unknown;
}

/**
 * Makes Ajv follow JSON Schema. By default, Ajv treats inherited members such as `constructor` as
 * members of every object, and 19.99 is not a multiple of 0.01. The SDK does not offer these
 * options, so this calls the method that selects the SDK's Ajv instance.
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
      'this version of @modelcontextprotocol/server cannot limit the work of a schema. Install 2.4.0',
    );
  }
  const engine = choose.call(validator, schema) as Engine;
  engine.opts.ownProperties = true;
  engine.opts.allErrors = allErrors;
  for (const keyword of [...OF_AJV_ALONE, 'multipleOf']) engine.removeKeyword(keyword);
  const { url } = engine.formats;
  // The time that this pattern takes grows with the square of the length.
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
 * Whether the value is a multiple of the step. Corrects the rounding of binary fractions, but
 * accepts no other number.
 */
function isMultiple(value: number, step: number): boolean {
  const nearest = Math.round(value / step) * step;
  return value % step === 0 || Number(nearest.toPrecision(15)) === value;
}
