/** What a thread is told, and what it says. */
export interface Order {
  readonly target: string;
  /** The fault that is awake; null for none. */
  readonly fault: string | null;
  readonly places: number;
  readonly seed: number;
  /** For how long, in seconds; 0 gives it its inputs and no others. */
  readonly seconds: number;
  /** Lines as `texts.ts` writes them. */
  readonly corpus: readonly string[];
  /** Whether the inputs that are worth keeping are told at the end. */
  readonly keeps: boolean;
  /** How many different findings end it. */
  readonly enough: number;
  /** The input that is being tried: see `SHARED`. */
  readonly shared: SharedArrayBuffer;
}

/**
 * Where things are in the shared memory: three numbers of 32 bits, of which the last asks for an
 * end, then the bytes of the input.
 */
export const SHARED = { length: 0, tried: 1, ends: 2, bytes: 16, size: 16 + 1024 * 1024 } as const;

/** Something that should not be. */
export interface Finding {
  readonly target: string;
  readonly kind: 'fault' | 'slow' | 'hang' | 'memory';
  readonly message: string;
  /** A line as `texts.ts` writes it. */
  readonly input: string;
  /** In seconds, since the target began. */
  readonly after: number;
}

export interface Summary {
  readonly inputs: number;
  readonly seconds: number;
  /** Places of the sources that were entered. */
  readonly entered: number;
  /** Inputs that did something new. */
  readonly kept: number;
  /** The most time that an input took of the processor, in milliseconds, and its length. */
  readonly slowest: { readonly milliseconds: number; readonly length: number };
  /** The most work for a byte of input: places entered. */
  readonly hardest: number;
  /** In MiB, at the end. */
  readonly heap: number;
}

export type Said =
  | { readonly type: 'finding'; readonly finding: Finding }
  | { readonly type: 'end'; readonly summary: Summary; readonly corpus: readonly string[] };
