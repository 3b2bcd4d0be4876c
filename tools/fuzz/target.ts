/** One or more parsers that read bytes from strangers. */
export interface Target {
  /** The names of the parsers, for the README and the run. */
  readonly about: string;
  /** The inputs to begin with. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words of the grammar. */
  readonly dictionary?: readonly string[];
  /** The longest input, in bytes. Default: 16 KiB. */
  readonly longest?: number;
  /** The most processor time for one input, in milliseconds. Default: 200. */
  readonly slowest?: number;
  /** Prepares the parser. It is called once for each thread. */
  start(): Promise<Run> | Run;
}

/**
 * Passes an input to the parser. Throws if the parser does something wrong: a Violation, or an
 * error that the parser should not have thrown.
 */
export type Run = (input: Buffer) => void | Promise<void>;

/** The parser returned a result, but the wrong one. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function hold(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Violation(rule);
}

/**
 * Returns the result of the parser, or null if it rejects the input with an expected error. Every
 * other error is a fault.
 */
export function unless<T>(isRefusal: (error: unknown) => boolean, parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** Like `unless`, for an asynchronous parser. */
export async function unlessAsync<T>(
  isRefusal: (error: unknown) => boolean,
  parse: () => Promise<T>,
): Promise<T | null> {
  try {
    return await parse();
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}
