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
  const validate = validator.getValidator({ ...schema });
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

/** The Ajv options that `followJsonSchema` changes. */
interface Engine {
  readonly opts: { ownProperties?: boolean; multipleOfPrecision?: number };
}

/**
 * Changes two options of Ajv to follow JSON Schema. By default, Ajv treats inherited members such
 * as `constructor` as members of every object, and 19.99 is not a multiple of 0.01. The SDK does
 * not offer these options, so this calls the method that selects the SDK's Ajv instance.
 */
function followJsonSchema(validator: AjvJsonSchemaValidator, schema: JsonSchema): void {
  const choose: unknown = Reflect.get(validator, '_engineFor');
  if (typeof choose !== 'function') return;
  const { opts } = choose.call(validator, schema) as Engine;
  opts.ownProperties = true;
  // How many decimal places of the quotient must be zero.
  opts.multipleOfPrecision = 6;
}
