/** Where a call belongs in a distributed trace, as the client said (W3C Trace Context and Baggage). */
export interface TraceContext {
  /** `traceparent`. */
  readonly parent: string;
  /** `tracestate`; null for none. */
  readonly state: string | null;
  /** `baggage`; null for none. */
  readonly baggage: string | null;
}

const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** What may be in a header field, so that it can be sent on as one. */
const FIELD = /^[\x20-\x7e]+$/;
/** What everybody has to carry on (W3C Trace Context section 3.3.1.5, W3C Baggage section 3.3.2). */
const LONGEST_STATE = 512;
const LONGEST_BAGGAGE = 8192;

/** The trace in the `_meta` of a request; null without a well-formed one. Members that are malformed or too long are left out. */
export function traceOf(meta: Readonly<Record<string, unknown>> | undefined): TraceContext | null {
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
