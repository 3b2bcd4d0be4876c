import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { JsonSchema } from './tool-description.ts';

/** Returns the problem with a value, or null if the value is valid. */
export type Check = (value: unknown) => string | null;

/**
 * Compiles a schema with a separate validator. A shared validator would confuse two schemas with
 * the same `$id`: it would use the first schema for both. `otherwise` is the problem to return if
 * the validator names no problem. Throws for an invalid schema.
 */
export function schemaCheck(
  schema: JsonSchema,
  otherwise = 'It does not match the schema.',
): Check {
  // `$async` is an Ajv extension and not part of JSON Schema. Such a schema returns a promise,
  // which would count as valid.
  if ('$async' in schema) throw new Error('$async is not a JSON Schema keyword');
  const validator = new AjvJsonSchemaValidator();
  followJsonSchema(validator, schema);
  const validate = validator.getValidator(withoutNullable(schema) as object);
  return (value) => {
    try {
      const result = validate(value);
      return result.valid ? null : (result.errorMessage ?? otherwise);
    } catch {
      // Ajv fails to compare objects that have a member such as `valueOf`.
      return otherwise;
    }
  };
}

/** Keywords whose content is a value and not a schema. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose content is an object with one schema for each name. */
const NAMED: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/**
 * Copies a schema without `nullable`. JSON Schema does not have this keyword, but Ajv follows it.
 */
function withoutNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNullable);
  if (typeof schema !== 'object' || schema === null) return schema;
  return mapMembers(schema, (value, keyword) => {
    if (VALUES.has(keyword)) return value;
    if (keyword === 'nullable') return undefined;
    const isNamed = NAMED.has(keyword) && typeof value === 'object' && value !== null;
    return isNamed ? mapMembers(value, withoutNullable) : withoutNullable(value);
  });
}

/** Copies an object with other values. Leaves out members whose value is undefined. */
function mapMembers(members: object, change: (value: unknown, name: string) => unknown): object {
  const changed = Object.entries(members).map(([name, value]) => [name, change(value, name)]);
  return Object.fromEntries(changed.filter(([, value]) => value !== undefined)) as object;
}

/** The parts of Ajv that are changed here. */
interface Engine {
  readonly opts: { ownProperties?: boolean };
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: object): unknown;
}

/**
 * Makes Ajv follow JSON Schema in two places. By default, Ajv treats inherited members such as
 * `constructor` as members of every object, and 19.99 is not a multiple of 0.01. The SDK does not
 * offer these options, so this calls the method that selects the SDK's Ajv instance.
 */
function followJsonSchema(validator: AjvJsonSchemaValidator, schema: JsonSchema): void {
  const choose: unknown = Reflect.get(validator, '_engineFor');
  if (typeof choose !== 'function') return;
  const engine = choose.call(validator, schema) as Engine;
  engine.opts.ownProperties = true;
  engine.removeKeyword('multipleOf');
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
