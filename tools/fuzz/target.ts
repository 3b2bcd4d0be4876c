/** A parser, or some of a kind, that reads what strangers send. */
export interface Target {
  /** Which parsers, for the README and the run. */
  readonly about: string;
  /** Inputs to begin with. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words of the grammar. */
  readonly dictionary?: readonly string[];
  /** The longest input, in bytes; 16 KiB unless given. */
  readonly longest?: number;
  /** How long an input may take, in milliseconds of the processor; 200 unless given. */
  readonly slowest?: number;
  /** Once for each thread. */
  start(): Promise<Run> | Run;
}

/**
 * Gives the parser an input. Throws for whatever it should not have done: a fault of ours, or a
 * Violation.
 */
export type Run = (input: Buffer) => void | Promise<void>;

/** The parser answered, and not as it should. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function hold(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Violation(rule);
}

/**
 * What the parser returns; null when it refuses in its own way. Everything else that it throws is a
 * fault.
 */
export function unless<T>(isRefusal: (error: unknown) => boolean, parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** The same of one that works asynchronously. */
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
