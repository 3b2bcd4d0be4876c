/**
 * What the server reports to telemetry. It contains no secret, token or code. It contains no text
 * from clients either, except in the request that `begin` receives for an endpoint.
 */
import type { DatabaseConnections, SqlDialect } from '@portico/sql';
import type { KeyRing } from './keys/key-ring.ts';
import type { OutboxCounts } from './outbox/message.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { CountedRows } from './store/sql/counting.ts';
import type { Store } from './store/store.ts';

/**
 * Work whose duration is measured. A task is one object for the lifetime of the server, so you can
 * use it as a map key.
 */
export type MeasuredTask = MeasuredEndpoint | MeasuredGrant | MeasuredStoreOperation;

/** A request to an endpoint. */
export interface MeasuredEndpoint {
  /** Always `endpoint`. */
  readonly kind: 'endpoint';
  /** The endpoint's name, such as `oauth_server_token`. */
  readonly name: string;
  /** The endpoint's configured path, such as `/oauth/token`, never the path from the request. */
  readonly route: string;
}

/** A token request from an authenticated client. */
export interface MeasuredGrant {
  /** Always `grant`. */
  readonly kind: 'grant';
  /** The `grant_type`, one of those that the server offers. */
  readonly name: string;
}

/** A store operation: one statement, or one transaction with all of its retries. */
export interface MeasuredStoreOperation {
  /** Always `store`. */
  readonly kind: 'store';
  /** The operation's name, such as `rotateRefreshToken`. */
  readonly name: string;
  /** The store's engine. */
  readonly dialect: SqlDialect;
}

/**
 * Receives measurements. `opentelemetry()` from `portico/telemetry` implements this interface. The
 * server does not wait for a returned promise. Errors and rejections are logged and do not affect
 * the request.
 */
export interface Telemetry {
  /**
   * Called when a task begins. `request` is the HTTP request for an endpoint, and null for any
   * other task. Read only its method and trace headers. Its URL and other headers contain secrets,
   * and the server itself reads its body.
   */
  begin(task: MeasuredTask, request: Request | null): Measurement;
  /**
   * Called when an endpoint has responded with this status. Also called for your own routes that
   * use `token()`.
   */
  answered(endpoint: string, status: number): void;
  /**
   * Called when a new token of this kind is issued, but not when an earlier response is sent again.
   */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /**
   * Called when a request is refused. `reason` is one of a fixed set of codes, for example
   * `invalid_grant`.
   */
  refused(endpoint: string, reason: string): void;
  /** Called when a client uses an authorization code or a refresh token a second time. */
  replayed(what: 'code' | 'refresh_token'): void;
  /**
   * Called after expired rows of one kind, for example `access_tokens`, were removed. `count` is
   * the number of removed rows, at least 1.
   */
  removed(rows: string, count: number): void;
  /** Called when a server starts. You can read the server's state from then on. */
  observe(server: ObservedServer): void;
}

/** The kinds of tokens in a token response. */
export type TokenKind = 'access_token' | 'refresh_token' | 'id_token';

/** A task that has started. */
export interface Measurement {
  /**
   * Calls `work` once, immediately, and returns its result. Whatever `work` awaits is part of the
   * task.
   */
  run<T>(work: () => T): T;
  /**
   * Called when the task ends. `failure` is one of a fixed set of codes, or null. `status` is the
   * HTTP status for an endpoint, and 0 for any other task.
   */
  end(failure: string | null, status: number): void;
}

/**
 * The state of the server. A method that returns a promise may reject, for example while the store
 * is unavailable.
 */
export interface ObservedServer {
  /**
   * How many statements and transactions were retried. The numbers never decrease. Null if the
   * store does not count retries.
   */
  retries(): { readonly statements: number; readonly transactions: number } | null;
  /**
   * The connections to a database server. Null if the store has no such connections or does not
   * count them.
   */
  connections(): DatabaseConnections | null;
  /**
   * Returns the age, in seconds, of the current signing key of each algorithm. Leaves out keys of
   * unknown age.
   */
  signingKeys(): Promise<readonly { readonly algorithm: string; readonly age: number }[]>;
  /**
   * Reads the first `limit` authorizations after this id, and counts those that are neither revoked
   * nor expired.
   */
  authorizations(after: string, limit: number): Promise<CountedRows>;
  /** Reads the first `limit` clients after this id, and counts those that are not revoked. */
  clients(after: string, limit: number): Promise<CountedRows>;
  /** Counts the messages in the outbox. Returns null if no feature sends messages. */
  outbox(): Promise<OutboxCounts | null>;
}

/** Measures one server. Reports to the application's `Telemetry`. */
export interface Measuring {
  /** Runs and measures an endpoint's work. Returns its result, or rejects with its error. */
  endpoint<T extends { readonly status: number }>(
    task: MeasuredEndpoint,
    request: Request,
    work: () => Promise<T>,
  ): Promise<T>;
  /** Runs and measures a grant's work. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T>;
  /** Returns a store that also measures its operations. */
  wrapStore<Whole extends Store>(store: Whole): Whole;
  /**
   * Like `Telemetry.answered`. Do not call this for endpoints, because `endpoint()` reports them.
   */
  answered(endpoint: string, status: number): void;
  /** Like `Telemetry.tokenIssued`. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /** Like `Telemetry.replayed`. */
  replayed(what: 'code' | 'refresh_token'): void;
  /** Like `Telemetry.refused`. The reason is the code of the error. */
  refused(endpoint: string, error: Error): void;
  /** Like `refused`, for a refusal without an error. The reason is the status. */
  refusedWith(endpoint: string, status: number): void;
  /**
   * Like `Telemetry.observe`. Called when the server is ready. `clock` returns milliseconds since
   * 1970.
   */
  observe(keys: KeyRing, clock: () => number, outbox: Outbox): void;
}
