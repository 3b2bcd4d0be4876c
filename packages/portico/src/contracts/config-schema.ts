/**
 * Validates a key of the configuration: a schema of zod 4, from any copy of it. `Output` is what
 * it makes of the value, and `Input` what you write.
 *
 * @example
 * const retention: ConfigSchema<number> = z.int().min(1).default(30);
 */
export interface ConfigSchema<Output = unknown, Input = unknown> {
  /** What zod keeps in a schema; only the two types are used. */
  readonly _zod: { readonly output: Output; readonly input: Input };
}
