/** The distributed trace of a call, as the client sent it (W3C Trace Context and Baggage). */
export interface TraceContext {
  /** The value of `traceparent`. */
  readonly parent: string;
  /** The value of `tracestate`, or null. */
  readonly state: string | null;
  /** The value of `baggage`, or null. */
  readonly baggage: string | null;
}

const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** Matches text that a header may contain. The application may forward these values as headers. */
const FIELD = /^[\x20-\x7e]+$/;
/**
 * The maximum lengths, in characters. Every participant of a trace must forward values up to these
 * lengths (W3C Trace Context section 3.3.1.5, W3C Baggage section 3.3.2).
 */
const LONGEST_STATE = 512;
const LONGEST_BAGGAGE = 8192;

/**
 * Reads the trace in a request's `_meta`. Returns null if `traceparent` is missing or malformed. If
 * `tracestate` or `baggage` is malformed or too long, replaces it with null.
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
