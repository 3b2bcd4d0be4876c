/**
 * The call's place in a distributed trace, as the client sent it (W3C Trace Context and Baggage).
 */
export interface TraceContext {
  /** `traceparent`. */
  readonly parent: string;
  /** `tracestate`, or null. */
  readonly state: string | null;
  /** `baggage`, or null. */
  readonly baggage: string | null;
}

const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** Characters that a header may contain. Other values could not be forwarded as headers. */
const FIELD = /^[\x20-\x7e]+$/;
/**
 * The lengths that every participant must forward (W3C Trace Context section 3.3.1.5, W3C Baggage
 * section 3.3.2).
 */
const LONGEST_STATE = 512;
const LONGEST_BAGGAGE = 8192;

/**
 * Reads the trace in a request's `_meta`. Returns null if `traceparent` is missing or malformed. A
 * malformed or too long `tracestate` or `baggage` becomes null.
 */
export function readTrace(
  meta: Readonly<Record<string, unknown>> | undefined,
): TraceContext | null {
  const parent = meta?.['traceparent'];
  if (typeof parent !== 'string' || !PARENT.test(parent)) return null;
  return {
    parent,
    state: field(meta?.['tracestate'], LONGEST_STATE),
    baggage: field(meta?.['baggage'], LONGEST_BAGGAGE),
  };
}

function field(value: unknown, longest: number): string | null {
  return typeof value === 'string' && value.length <= longest && FIELD.test(value) ? value : null;
}
