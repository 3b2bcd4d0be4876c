/**
 * Validates a configuration key: a zod 4 schema, from any copy of zod. `Input` is the type of the
 * value that you write, and `Output` is the type after validation.
 *
 * @example
 * const retention: ConfigSchema<number> = z.int().min(1).default(30);
 */
export interface ConfigSchema<Output = unknown, Input = unknown> {
  /** Zod's internal data. Portico uses only the two types. */
  readonly _zod: { readonly output: Output; readonly input: Input };
}
