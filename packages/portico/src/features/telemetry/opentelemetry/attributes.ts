import type { Attributes } from '@opentelemetry/api';
import type { SqlDialect } from '@portico/sql';
import type { MeasuredTask } from '../../../measuring.ts';

/**
 * The attributes of metrics and spans. The names follow OpenTelemetry's semantic conventions where
 * there is one.
 */

export const SCOPE = 'portico';

export const REQUEST_METHOD = 'http.request.method';
export const STATUS_CODE = 'http.response.status_code';
const ROUTE = 'http.route';
export const SCHEME = 'url.scheme';
export const PATH = 'url.path';
export const ERROR_TYPE = 'error.type';
export const SYSTEM = 'db.system.name';
const OPERATION = 'db.operation.name';
export const CONNECTION_STATE = 'db.client.connection.state';
export const POOL = 'db.client.connection.pool.name';

export const ENDPOINT = 'portico.endpoint';
export const GRANT_TYPE = 'portico.grant_type';
export const TOKEN_KIND = 'portico.token_kind';
export const REASON = 'portico.reason';
export const REPLAYED = 'portico.replayed';
export const OUTBOX_STATE = 'portico.outbox.state';
export const RETRIED = 'portico.retried';
export const ROWS = 'portico.rows';
export const ALGORITHM = 'portico.key_algorithm';

/** The engine names in the semantic conventions. MariaDB is reported as MySQL. */
const SYSTEMS: Readonly<Record<SqlDialect, string>> = {
  sqlite: 'sqlite',
  postgres: 'postgresql',
  mysql: 'mysql',
};

/** The attributes that never change between runs. */
export function fixedAttributes(task: MeasuredTask): Attributes {
  if (task.kind === 'store') return { [SYSTEM]: SYSTEMS[task.dialect], [OPERATION]: task.name };
  if (task.kind === 'grant') return { [GRANT_TYPE]: task.name };
  return { [ENDPOINT]: task.name, [ROUTE]: task.route };
}

/**
 * RFC 9110 section 9 and RFC 5789. Clients can send any string as a method, so only these become
 * attribute values.
 */
const METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
]);

export function readMethod(request: Request | null): string {
  return request !== null && METHODS.has(request.method) ? request.method : '_OTHER';
}

export function getScheme(request: Request | null): string {
  return request?.url.startsWith('https:') === true ? 'https' : 'http';
}

/**
 * Returns a function that creates the value for each key once. It never forgets a value. Use it
 * only for few different keys, for example tasks, statuses or reasons.
 */
export function once<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    let found = made.get(key);
    if (found === undefined) {
      found = make(key);
      made.set(key, found);
    }
    return found;
  };
}
