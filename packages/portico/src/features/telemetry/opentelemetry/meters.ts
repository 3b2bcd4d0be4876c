import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api';
import type {
  MeasuredEndpoint,
  MeasuredGrant,
  MeasuredStoreOperation,
  MeasuredTask,
  ObservedServer,
} from '../../../measuring.ts';
import {
  ENDPOINT,
  ERROR_TYPE,
  fixedAttributes,
  GRANT_TYPE,
  readMethod,
  once,
  REASON,
  REPLAYED,
  REQUEST_METHOD,
  ROWS,
  SCHEME,
  getScheme,
  STATUS_CODE,
  TOKEN_KIND,
} from './attributes.ts';
import { observeServer } from './observing.ts';

/**
 * Histogram buckets for requests and store operations, in seconds, from the semantic conventions.
 */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const STORE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

export class Meters {
  readonly #meter: Meter;
  readonly #requests: Histogram;
  readonly #grants: Histogram;
  readonly #operations: Histogram;
  readonly #throttled: Count;
  readonly #unavailable: Count;
  readonly #ofEndpoint = once(endpointAttributes);
  readonly #ofTask = once(taskAttributes);
  readonly tokenIssued: CountTwo;
  readonly refused: CountTwo;
  readonly replayed: Count;
  readonly removed: Count;

  constructor(meter: Meter) {
    const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } });
    const counter = (name: string, description: string, unit: string) =>
      meter.createCounter(name, { description, unit });
    this.#meter = meter;
    this.#requests = seconds(
      'http.server.request.duration',
      'Duration of requests to endpoints',
      REQUEST_BUCKETS,
    );
    this.#grants = seconds(
      'portico.grant.duration',
      'Duration of token requests by grant',
      REQUEST_BUCKETS,
    );
    this.#operations = seconds(
      'db.client.operation.duration',
      'Duration of store operations',
      STORE_BUCKETS,
    );
    const tokens = counter('portico.tokens.issued', 'Tokens issued', '{token}');
    this.tokenIssued = countingTwo(tokens, GRANT_TYPE, TOKEN_KIND);
    const refusals = counter('portico.refusals', 'Requests refused', '{request}');
    this.refused = countingTwo(refusals, ENDPOINT, REASON);
    const usedAgain = 'Codes and refresh tokens that were used a second time';
    this.replayed = counting(counter('portico.replays', usedAgain, '{replay}'), REPLAYED);
    const throttled = counter(
      'portico.requests.throttled',
      'Requests answered with 429',
      '{request}',
    );
    this.#throttled = counting(throttled, ENDPOINT);
    const unavailable = counter(
      'portico.requests.unavailable',
      'Requests answered with 503',
      '{request}',
    );
    this.#unavailable = counting(unavailable, ENDPOINT);
    this.removed = counting(
      counter('portico.store.rows.removed', 'Expired rows removed', '{row}'),
      ROWS,
    );
  }

  /** Records a finished task, with its duration in seconds. */
  took(
    task: MeasuredTask,
    request: Request | null,
    seconds: number,
    failure: string | null,
    status: number,
  ): void {
    if (task.kind === 'endpoint') {
      this.#requests.record(seconds, this.#ofEndpoint(task)(request, status));
    } else {
      const histogram = task.kind === 'grant' ? this.#grants : this.#operations;
      histogram.record(seconds, this.#ofTask(task)(failure ?? ''));
    }
  }

  answered(endpoint: string, status: number): void {
    if (status === 429) this.#throttled(endpoint);
    else if (status === 503) this.#unavailable(endpoint);
  }

  observe(server: ObservedServer): void {
    observeServer(this.#meter, server);
  }
}

/** Maps a failure reason to attributes. The empty string means success. */
function taskAttributes(
  task: MeasuredGrant | MeasuredStoreOperation,
): (failure: string) => Attributes {
  const fixed = fixedAttributes(task);
  return once((failure) => (failure === '' ? fixed : { ...fixed, [ERROR_TYPE]: failure }));
}

/** Maps a method, scheme and status to attributes. */
function endpointAttributes(
  task: MeasuredEndpoint,
): (request: Request | null, status: number) => Attributes {
  const fixed = fixedAttributes(task);
  const byMethod = once((method: string) =>
    once((scheme: string) =>
      once((status: number): Attributes => ({
        ...fixed,
        [REQUEST_METHOD]: method,
        [SCHEME]: scheme,
        ...(status > 0 ? { [STATUS_CODE]: status } : {}),
        ...(status >= 500
          ? { [ERROR_TYPE]: String(status) }
          : status === 0
            ? { [ERROR_TYPE]: 'fault' }
            : {}),
      })),
    ),
  );
  return (request, status) => byMethod(readMethod(request))(getScheme(request))(status);
}

type Count = (value: string, count?: number) => void;
type CountTwo = (value: string, other: string) => void;

function counting(counter: Counter, name: string): Count {
  const attributes = once((value: string) => ({ [name]: value }));
  return (value, count = 1) => counter.add(count, attributes(value));
}

function countingTwo(counter: Counter, name: string, otherName: string): CountTwo {
  const attributes = once((value: string) =>
    once((other: string) => ({ [name]: value, [otherName]: other })),
  );
  return (value, other) => counter.add(1, attributes(value)(other));
}
