/**
 * The measurements for telemetry. They contain no secret, token or code. They contain no text from
 * clients, except in the request that `begin` receives for an endpoint.
 */
import type { DatabaseConnections, SqlDialect } from '@portico/sql';
import type { KeyRing } from './keys/key-ring.ts';
import type { OutboxCounts } from './outbox/message.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { CountedRows } from './store/sql/counting.ts';
import type { Store } from './store/store.ts';

/**
 * Work whose duration is measured. Each task is one object for the lifetime of the server, so it
 * can be a map key.
 */
export type MeasuredTask = MeasuredEndpoint | MeasuredGrant | MeasuredStoreOperation;

/** A request to an endpoint. */
export interface MeasuredEndpoint {
  /** Always `endpoint`. */
  readonly kind: 'endpoint';
  /** The name of the endpoint, such as `oauth_server_token`. */
  readonly name: string;
  /**
   * The path of the endpoint in the configuration, such as `/oauth/token`. Never the path from the
   * request.
   */
  readonly route: string;
}

/** A token request from a client that has authenticated. */
export interface MeasuredGrant {
  /** Always `grant`. */
  readonly kind: 'grant';
  /** The `grant_type`, which is always one that the server supports. */
  readonly name: string;
}

/** An operation of the store: one statement, or one transaction including all of its retries. */
export interface MeasuredStoreOperation {
  /** Always `store`. */
  readonly kind: 'store';
  /** The name of the operation, such as `rotateRefreshToken`. */
  readonly name: string;
  /** The type of the store's database. */
  readonly dialect: SqlDialect;
}

/**
 * Receives the server's measurements, for example `opentelemetry()` from `portico/telemetry`. The
 * server does not wait for returned promises. It logs errors, and the request continues.
 */
export interface Telemetry {
  /**
   * Called when a task begins. `request` is the HTTP request for an endpoint, otherwise null. Read
   * only its method and its trace headers: its URL and other headers contain secrets. Do not read
   * its body, which the server reads itself.
   */
  begin(task: MeasuredTask, request: Request | null): Measurement;
  /**
   * Called after an endpoint has responded with this status. `endpoint` is `token()` if your own
   * route cannot look up a token, for example because the store does not respond.
   */
  answered(endpoint: string, status: number): void;
  /**
   * Called for each new token of this kind. Not called if the server repeats an earlier response.
   */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /**
   * Called when the server refuses a request. `reason` is one of a fixed set of codes, for example
   * `invalid_grant`. `endpoint` is `token()` for a refusal by `token()`.
   */
  refused(endpoint: string, reason: string): void;
  /** Called when a client uses an authorization code or a refresh token for the second time. */
  replayed(what: 'code' | 'refresh_token'): void;
  /**
   * Called after the server has removed expired rows of one kind: `authorizations`,
   * `access_tokens`, `consent_requests`, `clients` or `single_uses`. `count` is at least 1. Not
   * called for rows that only a feature stores, for example audit events.
   */
  removed(rows: string, count: number): void;
  /** Called when a server starts. From now on, you can read the server's state. */
  observe(server: ObservedServer): void;
}

/** The kinds of tokens that a token response can contain. */
export type TokenKind = 'access_token' | 'refresh_token' | 'id_token';

/** The measurement of a task that has started. */
export interface Measurement {
  /**
   * Must call `work` exactly once and immediately, and return its result. Everything that `work`
   * awaits belongs to the task.
   */
  run<T>(work: () => T): T;
  /**
   * Called when the task ends. `failure` is one of a fixed set of codes. It is null for a success,
   * and for an endpoint's status below 500. `status` is the HTTP status for an endpoint, otherwise
   * 0.
   */
  end(failure: string | null, status: number): void;
}

/** The server's state. Promises can reject, for example while the store is unavailable. */
export interface ObservedServer {
  /**
   * Returns how many statements and transactions were retried. The numbers never decrease. Null if
   * the store does not count retries.
   */
  retries(): { readonly statements: number; readonly transactions: number } | null;
  /**
   * Returns the number of connections to the database server. Null if the store does not count
   * them.
   */
  connections(): DatabaseConnections | null;
  /**
   * Returns the age of each algorithm's current signing key, in seconds. Leaves out unknown ages.
   */
  signingKeys(): Promise<readonly { readonly algorithm: string; readonly age: number }[]>;
  /**
   * Reads the first `limit` authorizations after the id `after`. Counts those that are neither
   * revoked nor expired.
   */
  authorizations(after: string, limit: number): Promise<CountedRows>;
  /** Reads the first `limit` clients after the id `after`. Counts those that are not revoked. */
  clients(after: string, limit: number): Promise<CountedRows>;
  /** Counts the messages in the outbox. Returns null if no feature sends messages. */
  outbox(): Promise<OutboxCounts | null>;
}

/** Measures the work of one server and reports to the application's `Telemetry`. */
export interface Measuring {
  /** Measures the work of an endpoint. Returns its result, or rejects with its error. */
  endpoint<T extends { readonly status: number }>(
    task: MeasuredEndpoint,
    request: Request,
    work: () => Promise<T>,
  ): Promise<T>;
  /** Runs the work of a grant and measures it. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T>;
  /** Returns a store that does the same and also measures its operations. */
  wrapStore<Whole extends Store>(store: Whole): Whole;
  /** Calls `Telemetry.answered`. Not for endpoints: `endpoint()` already reports them. */
  answered(endpoint: string, status: number): void;
  /** Calls `Telemetry.tokenIssued`. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /** Calls `Telemetry.replayed`. */
  replayed(what: 'code' | 'refresh_token'): void;
  /** Calls `Telemetry.refused` with the code of the error as the reason. */
  refused(endpoint: string, error: Error): void;
  /** Calls `Telemetry.refused` with the status as the reason, for a refusal without an error. */
  refusedWith(endpoint: string, status: number): void;
  /** Calls `Telemetry.observe` when the server is ready. `clock` is in milliseconds since 1970. */
  observe(keys: KeyRing, clock: () => number, outbox: Outbox): void;
}
