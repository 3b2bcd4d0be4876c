import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { JsonSchema } from './tool-description.ts';

/** Returns the problem with a value, or null if the value is valid. */
export type Check = (value: unknown) => string | null;

/**
 * Compiles a schema with a separate validator. A shared validator would use the first of two
 * schemas with the same `$id` for both. `otherwise` is the problem to return if the validator names
 * no problem. Throws for an invalid schema.
 */
export function schemaCheck(
  schema: JsonSchema,
  otherwise = 'It does not match the schema.',
): Check {
  // `$async` is an Ajv extension and not part of JSON Schema. Validation would return a promise,
  // which would look like a valid result.
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

/** The parts of Ajv that `followJsonSchema` changes. */
interface Engine {
  readonly opts: { ownProperties?: boolean };
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: object): unknown;
}

/**
 * Makes Ajv follow JSON Schema in two places. By default, Ajv treats inherited members such as
 * `constructor` as members of every object, and does not treat 19.99 as a multiple of 0.01. The SDK
 * has no options for this, so this function calls the method that selects the SDK's Ajv instance.
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
