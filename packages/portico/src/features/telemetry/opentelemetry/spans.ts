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
  type Tracer,
} from '@opentelemetry/api';
import type { MeasuredEndpoint, MeasuredTask } from '../../../measuring.ts';
import {
  ERROR_TYPE,
  fixedAttributes,
  readMethod,
  once,
  PATH,
  REQUEST_METHOD,
  getScheme,
  SCHEME,
  STATUS_CODE,
} from './attributes.ts';

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

/**
 * The span of an endpoint contains the span of the grant, which contains the spans of the store.
 */
export class Spans {
  readonly #tracer: Tracer;
  readonly #fixed = once(fixedAttributes);

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  start(task: MeasuredTask, request: Request | null): OpenSpan {
    if (task.kind === 'endpoint' && request !== null) return this.#startEndpoint(task, request);
    const parent = context.active();
    const kind = task.kind === 'store' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const name = task.kind === 'grant' ? `grant ${task.name}` : task.name;
    const attributes = this.#fixed(task);
    return new OpenSpan(this.#tracer.startSpan(name, { kind, attributes }, parent), parent);
  }

  /** Starts a child of the active span. Without one, continues the caller's trace. */
  #startEndpoint(task: MeasuredEndpoint, request: Request): OpenSpan {
    const active = context.active();
    const isInner = trace.getSpan(active) !== undefined;
    const parent = isInner ? active : propagation.extract(active, request.headers, HEADERS);
    const method = readMethod(request);
    const attributes = {
      ...this.#fixed(task),
      [REQUEST_METHOD]: method,
      [SCHEME]: getScheme(request),
      [PATH]: task.route,
    };
    const kind = isInner ? SpanKind.INTERNAL : SpanKind.SERVER;
    const name = `${method === '_OTHER' ? 'HTTP' : method} ${task.route}`;
    return new OpenSpan(this.#tracer.startSpan(name, { kind, attributes }, parent), parent);
  }
}

/**
 * These reasons mark a span as failed. A rejected request is no failure of the server, so its span
 * only records the reason.
 */
const FAILURES: ReadonlySet<string> = new Set(['unavailable', 'overloaded', 'fault']);

export class OpenSpan {
  readonly #span: Span;
  readonly #parent: Context;

  constructor(span: Span, parent: Context) {
    this.#span = span;
    this.#parent = parent;
  }

  run<T>(work: () => T): T {
    // The span is not valid if no SDK is registered.
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
