import {
  context,
  isSpanContextValid,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type TextMapGetter,
  type TracerProvider,
} from '@opentelemetry/api';
import type { MeasuredTask } from '../contracts/telemetry.ts';
import {
  ERROR_TYPE,
  fixedAttributes,
  methodOf,
  once,
  PATH,
  REQUEST_METHOD,
  schemeOf,
  SCHEME,
  SCOPE,
  STATUS_CODE,
} from './attributes.ts';

/** The spans of a server: of an endpoint, within it that of a grant, within that those of the store. */
export interface Spans {
  start(task: MeasuredTask, request: Request | null): StartedSpan;
}

export interface StartedSpan {
  run<T>(work: () => T): T;
  end(failure: string | null, status: number): void;
}

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

/** With the global provider, which may be registered later, unless one is given. */
export function createSpans(provider: TracerProvider = trace.getTracerProvider()): Spans {
  const tracer = provider.getTracer(SCOPE);
  const fixed = once<MeasuredTask, ReturnType<typeof fixedAttributes>>(fixedAttributes);

  /** Within what is there already; where nothing is, the caller's trace goes on. */
  function endpointSpan(task: MeasuredTask & { readonly kind: 'endpoint' }, request: Request): StartedSpan {
    const active = context.active();
    const isInner = trace.getSpan(active) !== undefined;
    const parent = isInner ? active : propagation.extract(active, request.headers, HEADERS);
    const method = methodOf(request);
    const attributes = {
      ...fixed(task),
      [REQUEST_METHOD]: method,
      [SCHEME]: schemeOf(request),
      [PATH]: task.route,
    };
    const kind = isInner ? SpanKind.INTERNAL : SpanKind.SERVER;
    const name = `${method === '_OTHER' ? 'HTTP' : method} ${task.route}`;
    return new OpenSpan(tracer.startSpan(name, { kind, attributes }, parent), parent);
  }

  return {
    start(task, request) {
      if (task.kind === 'endpoint' && request !== null) return endpointSpan(task, request);
      const parent = context.active();
      const kind = task.kind === 'store' ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const name = task.kind === 'grant' ? `grant ${task.name}` : task.name;
      return new OpenSpan(tracer.startSpan(name, { kind, attributes: fixed(task) }, parent), parent);
    },
  };
}

/** A refusal is no error of the server's: its reason is noted, and the span's status left alone. */
const FAILURES: ReadonlySet<string> = new Set(['unavailable', 'overloaded', 'fault']);

class OpenSpan implements StartedSpan {
  readonly #span: Span;
  readonly #parent: Context;

  constructor(span: Span, parent: Context) {
    this.#span = span;
    this.#parent = parent;
  }

  run<T>(work: () => T): T {
    // Without an SDK there is no span, and nothing to be within.
    if (!isSpanContextValid(this.#span.spanContext())) return work();
    return context.with(trace.setSpan(this.#parent, this.#span), work);
  }

  end(failure: string | null, status: number): void {
    const span = this.#span;
    if (span.isRecording()) {
      if (status > 0) span.setAttribute(STATUS_CODE, status);
      if (failure !== null) {
        span.setAttribute(ERROR_TYPE, failure);
        if (status >= 500 || FAILURES.has(failure)) span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
    span.end();
  }
}
