import { metrics, type Attributes, type Counter, type Meter, type MeterProvider } from '@opentelemetry/api';
import type {
  MeasuredEndpoint,
  MeasuredGrant,
  MeasuredStoreOperation,
  MeasuredTask,
  Telemetry,
} from '../contracts/telemetry.ts';
import {
  ENDPOINT,
  ERROR_TYPE,
  fixedAttributes,
  GRANT_TYPE,
  methodOf,
  once,
  REASON,
  REPLAYED,
  REQUEST_METHOD,
  ROWS,
  SCHEME,
  schemeOf,
  SCOPE,
  STATUS_CODE,
  TOKEN_KIND,
} from './attributes.ts';
import { observeServer } from './observing.ts';

/** The metrics of a server; the members but `took` are as those of Telemetry. */
export interface Meters extends Omit<Telemetry, 'begin'> {
  /** A task is done, after so many seconds. */
  took(
    task: MeasuredTask,
    request: Request | null,
    seconds: number,
    failure: string | null,
    status: number,
  ): void;
}

/** The conventions' buckets for requests, and for statements, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const STORE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/**
 * With the global provider unless one is given. There is no global one to be had before it is registered, so it is asked for once there is
 * something to say.
 */
export function createMeters(provider?: MeterProvider): Meters {
  let made: Instruments | null = null;
  const instruments = () =>
    (made ??= createInstruments((provider ?? metrics.getMeterProvider()).getMeter(SCOPE)));
  return {
    took: (...given) => instruments().took(...given),
    answered: (endpoint, status) => instruments().answered(endpoint, status),
    tokenIssued: (grantType, kind) => instruments().tokenIssued(grantType, kind),
    refused: (endpoint, reason) => instruments().refused(endpoint, reason),
    replayed: (what) => instruments().replayed(what),
    removed: (rows, count) => instruments().removed(rows, count),
    observe: (server) => instruments().observe(server),
  };
}

type Instruments = Meters;

function createInstruments(meter: Meter): Instruments {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } });
  const requests = seconds(
    'http.server.request.duration',
    'Duration of requests to endpoints',
    REQUEST_BUCKETS,
  );
  const grants = seconds('portico.grant.duration', 'Duration of token requests by grant', REQUEST_BUCKETS);
  const operations = seconds('db.client.operation.duration', 'Duration of store operations', STORE_BUCKETS);

  const tokens = countingTwo(
    meter.createCounter('portico.tokens.issued', { description: 'Tokens issued', unit: '{token}' }),
    [GRANT_TYPE, TOKEN_KIND],
  );
  const refusals = countingTwo(
    meter.createCounter('portico.refusals', { description: 'Requests refused', unit: '{request}' }),
    [ENDPOINT, REASON],
  );
  const replays = counting(
    meter.createCounter('portico.replays', {
      description: 'Codes and refresh tokens that were used a second time',
      unit: '{replay}',
    }),
    REPLAYED,
  );
  const throttled = counting(
    meter.createCounter('portico.requests.throttled', {
      description: 'Requests answered 429',
      unit: '{request}',
    }),
    ENDPOINT,
  );
  const unavailable = counting(
    meter.createCounter('portico.requests.unavailable', {
      description: 'Requests answered 503',
      unit: '{request}',
    }),
    ENDPOINT,
  );
  const rows = counting(
    meter.createCounter('portico.store.rows.removed', { description: 'Expired rows removed', unit: '{row}' }),
    ROWS,
  );

  const ofEndpoint = once(endpointAttributes);
  const ofTask = once(taskAttributes);
  return {
    took(task, request, duration, failure, status) {
      if (task.kind === 'endpoint') requests.record(duration, ofEndpoint(task)(request, failure, status));
      else (task.kind === 'grant' ? grants : operations).record(duration, ofTask(task)(failure ?? ''));
    },
    answered(endpoint, status) {
      if (status === 429) throttled(endpoint, 1);
      else if (status === 503) unavailable(endpoint, 1);
    },
    tokenIssued: (grantType, kind) => tokens(grantType, kind),
    refused: (endpoint, reason) => refusals(endpoint, reason),
    replayed: (what) => replays(what, 1),
    removed: (kind, count) => rows(kind, count),
    observe: (server) => observeServer(meter, server),
  };
}

/** The attributes of a grant or an operation, by why it failed; empty for one that did not. */
function taskAttributes(task: MeasuredGrant | MeasuredStoreOperation): (failure: string) => Attributes {
  const fixed = fixedAttributes(task);
  return once((failure) => (failure === '' ? fixed : { ...fixed, [ERROR_TYPE]: failure }));
}

/** The attributes of an endpoint's answers, by method, scheme and status. */
function endpointAttributes(
  task: MeasuredEndpoint,
): (request: Request | null, failure: string | null, status: number) => Attributes {
  const fixed = fixedAttributes(task);
  const byMethod = once((method: string) =>
    once((scheme: string) =>
      once((status: number): Attributes => ({
        ...fixed,
        [REQUEST_METHOD]: method,
        [SCHEME]: scheme,
        ...(status > 0 ? { [STATUS_CODE]: status } : {}),
        ...(status >= 500 ? { [ERROR_TYPE]: String(status) } : status === 0 ? { [ERROR_TYPE]: 'fault' } : {}),
      })),
    ),
  );
  return (request, _, status) => byMethod(methodOf(request))(schemeOf(request))(status);
}

function counting(counter: Counter, name: string): (value: string, count: number) => void {
  const attributes = once((value: string) => ({ [name]: value }));
  return (value, count) => counter.add(count, attributes(value));
}

function countingTwo(
  counter: Counter,
  [name, other]: readonly [string, string],
): (value: string, otherValue: string) => void {
  const attributes = once((value: string) => once((second: string) => ({ [name]: value, [other]: second })));
  return (value, second) => counter.add(1, attributes(value)(second));
}
