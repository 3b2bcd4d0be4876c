import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { JsonSchema } from './tool-description.ts';

/** Returns the problem with a value, or null if the value is valid. */
export type Check = (value: unknown) => string | null;

/**
 * Compiles a schema with a separate validator. A shared validator would confuse two schemas with
 * the same `$id`: it would use the first one for both. `otherwise` is the problem if the validator
 * names none. Throws for an invalid schema.
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

/** The parts of Ajv that are changed here. */
interface Engine {
  readonly opts: { ownProperties?: boolean };
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: object): unknown;
}

/**
 * Changes Ajv where it differs from JSON Schema: it takes inherited members such as `constructor`
 * for members of each object, and divides to find out if 19.99 is a multiple of 0.01. The SDK has
 * no options for it, so this uses the method with which the SDK chooses the engine for a dialect.
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

/** Whether a number is a multiple of another, as both are written. Does not round. */
function isMultiple(value: number, step: number): boolean {
  const [written, ofStep] = [decimalOf(value), decimalOf(step)];
  if (ofStep.digits === 0n) return false;
  // A number has at most 17 digits, so more than 60 zeros behind one of them change nothing.
  const zeros = Math.max(-60, Math.min(60, written.exponent - ofStep.exponent));
  return zeros < 0
    ? written.digits % (ofStep.digits * 10n ** BigInt(-zeros)) === 0n
    : (written.digits * 10n ** BigInt(zeros)) % ofStep.digits === 0n;
}

/** A number: `digits` times ten to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function decimalOf(value: number): Decimal {
  const [digits = '', exponent] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
