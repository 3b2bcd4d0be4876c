/** The order to a thread. */
export interface Order {
  readonly target: string;
  /** The name of the fault that is active, or null. */
  readonly fault: string | null;
  readonly places: number;
  readonly seed: number;
  /** How long the thread tries inputs, in seconds. With 0, it tries only the given inputs. */
  readonly seconds: number;
  /** The inputs to begin with, as lines in the format of `texts.ts`. */
  readonly corpus: readonly string[];
  /** Whether the thread reports the inputs to keep when it ends. */
  readonly keeps: boolean;
  /** The number of different findings after which the thread ends. */
  readonly enough: number;
  /** The memory with the input that is being tried. See `SHARED`. */
  readonly shared: SharedArrayBuffer;
}

/**
 * The layout of the shared memory. It begins with three 32-bit numbers. The last of them tells the
 * thread to end. The bytes of the input follow.
 */
export const SHARED = { length: 0, tried: 1, ends: 2, bytes: 16, size: 16 + 1024 * 1024 } as const;

/** A problem that the fuzzer found. */
export interface Finding {
  readonly target: string;
  readonly kind: 'fault' | 'slow' | 'hang' | 'memory';
  readonly message: string;
  /** The input, as a line in the format of `texts.ts`. */
  readonly input: string;
  /** The time since the target began, in seconds. */
  readonly after: number;
}

export interface Summary {
  readonly inputs: number;
  readonly seconds: number;
  /** The number of places in the sources that were entered. */
  readonly entered: number;
  /** The number of inputs that did something new. */
  readonly kept: number;
  /** The most processor time that an input took, in milliseconds, and the length of that input. */
  readonly slowest: { readonly milliseconds: number; readonly length: number };
  /** The most work per byte of input, in entered places. */
  readonly hardest: number;
  /** The size of the heap at the end, in MiB. */
  readonly heap: number;
}

export type Said =
  | { readonly type: 'finding'; readonly finding: Finding }
  | { readonly type: 'end'; readonly summary: Summary; readonly corpus: readonly string[] };
