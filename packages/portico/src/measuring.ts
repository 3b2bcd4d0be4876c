/**
 * The measurements that the server reports to telemetry. They contain no secret, token or code.
 * They contain no text from clients either, except in the request that `begin` receives for an
 * endpoint.
 */
import type { DatabaseConnections, SqlDialect } from '@portico/sql';
import type { KeyRing } from './keys/key-ring.ts';
import type { OutboxCounts } from './outbox/message.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { CountedRows } from './store/sql/counting.ts';
import type { Store } from './store/store.ts';

/**
 * A kind of work whose duration is measured. Each task is the same object for the lifetime of the
 * server, so you can use it as a map key.
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
 * Receives the server's measurements. `opentelemetry()` from `portico/telemetry` implements this
 * interface. The server does not wait for a returned promise. It logs errors and rejections, but
 * they do not affect the request.
 */
export interface Telemetry {
  /**
   * Called when a task begins. `request` is the HTTP request for an endpoint, or null for any other
   * task. Read only its method and its trace headers, because its URL and other headers contain
   * secrets. Do not read its body, because the server itself reads it.
   */
  begin(task: MeasuredTask, request: Request | null): Measurement;
  /**
   * Called after an endpoint has responded with this status. For routes of your application that
   * use `token()`, called with the endpoint `token()` only if the token cannot be looked up, for
   * example because the store does not respond.
   */
  answered(endpoint: string, status: number): void;
  /**
   * Called when the server issues a new token of this kind. Not called when the server repeats an
   * earlier response.
   */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /**
   * Called when the server rejects a request. `reason` is one of a fixed set of codes, for example
   * `invalid_grant`. For a request that `token()` rejects, `endpoint` is `token()`.
   */
  refused(endpoint: string, reason: string): void;
  /** Called when a client uses an authorization code or a refresh token for the second time. */
  replayed(what: 'code' | 'refresh_token'): void;
  /**
   * Called after the server has removed expired rows of one kind: `authorizations`,
   * `access_tokens`, `consent_requests`, `clients` or `single_uses`. `count` is the number of
   * these rows and is at least 1. Not called for rows that only a feature stores, for example audit
   * events.
   */
  removed(rows: string, count: number): void;
  /** Called when a server starts. You can read the server's state from this moment. */
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
   * Called when the task ends. `failure` is one of a fixed set of codes, or null. For an endpoint
   * that responds with a status below 500, it is null. `status` is the HTTP status for an endpoint,
   * or 0 for any other task.
   */
  end(failure: string | null, status: number): void;
}

/**
 * The server's state. Methods that return a promise can reject, for example while the store is
 * unavailable.
 */
export interface ObservedServer {
  /**
   * Returns how many statements and transactions have been retried. The numbers never decrease.
   * Returns null if the store does not count retries.
   */
  retries(): { readonly statements: number; readonly transactions: number } | null;
  /**
   * Returns the number of connections to the database server. Returns null if the store has no such
   * connections or does not count them.
   */
  connections(): DatabaseConnections | null;
  /**
   * Returns the age of the current signing key of each algorithm, in seconds. Leaves out keys whose
   * age is unknown.
   */
  signingKeys(): Promise<readonly { readonly algorithm: string; readonly age: number }[]>;
  /**
   * Reads the first `limit` authorizations after the id `after`, and counts those that are neither
   * revoked nor expired.
   */
  authorizations(after: string, limit: number): Promise<CountedRows>;
  /**
   * Reads the first `limit` clients after the id `after`, and counts those that are not revoked.
   */
  clients(after: string, limit: number): Promise<CountedRows>;
  /** Counts the messages in the outbox. Returns null if no feature sends messages. */
  outbox(): Promise<OutboxCounts | null>;
}

/** Measures the work of one server and reports to the application's `Telemetry`. */
export interface Measuring {
  /**
   * Runs the work of an endpoint and measures it. Returns the result of the work, or rejects with
   * its error.
   */
  endpoint<T extends { readonly status: number }>(
    task: MeasuredEndpoint,
    request: Request,
    work: () => Promise<T>,
  ): Promise<T>;
  /** Runs the work of a grant and measures it. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T>;
  /** Returns a store that does the same and also measures its operations. */
  wrapStore<Whole extends Store>(store: Whole): Whole;
  /**
   * Calls `Telemetry.answered`. Do not call this method for endpoints, because `endpoint()` already
   * reports them.
   */
  answered(endpoint: string, status: number): void;
  /** Calls `Telemetry.tokenIssued`. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /** Calls `Telemetry.replayed`. */
  replayed(what: 'code' | 'refresh_token'): void;
  /** Calls `Telemetry.refused` with the code of the error as the reason. */
  refused(endpoint: string, error: Error): void;
  /**
   * Calls `Telemetry.refused` with the status as the reason, for a rejected request without an
   * error.
   */
  refusedWith(endpoint: string, status: number): void;
  /**
   * Calls `Telemetry.observe`. The server calls this method when it is ready. `clock` returns the
   * time in milliseconds since 1970.
   */
  observe(keys: KeyRing, clock: () => number, outbox: Outbox): void;
}
