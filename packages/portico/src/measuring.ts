/**
 * The data that the server reports to telemetry. It contains no secret, token or code. It contains
 * no client input, except for the request that `begin` receives for an endpoint.
 */
import type { DatabaseConnections, SqlDialect } from '@portico/sql';
import type { KeyRing } from './keys/key-ring.ts';
import type { OutboxCounts } from './outbox/message.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { CountedRows } from './store/sql/counting.ts';
import type { Store } from './store/store.ts';

/**
 * Work that takes time. Each task is the same object for the server's whole lifetime, so you can
 * use it as a key.
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
  /** A `grant_type` that the server knows. */
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
 * Receives measurements. `opentelemetry()` from `portico/telemetry` implements it. The server does
 * not wait for a returned promise. Errors and rejections are logged and do not affect the request.
 */
export interface Telemetry {
  /**
   * Called when a task begins. For an endpoint, `request` is the HTTP request; for every other task
   * it is null. Read only its method and its trace headers. Its URL and other headers contain
   * secrets, and the server reads its body.
   */
  begin(task: MeasuredTask, request: Request | null): Measurement;
  /**
   * Called when an endpoint has responded with this status. `token()` reports host routes in the
   * same way.
   */
  answered(endpoint: string, status: number): void;
  /** Called when a token of this kind is issued for the first time. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /**
   * Called when a request is refused. The reason comes from a fixed set, such as `invalid_grant`.
   */
  refused(endpoint: string, reason: string): void;
  /** Called when a code or a refresh token is used a second time. */
  replayed(what: 'code' | 'refresh_token'): void;
  /**
   * Called when this many expired rows of a kind, such as `access_tokens`, were removed; at least
   * 1.
   */
  removed(rows: string, count: number): void;
  /** Called when a server starts. From now on you can read its state. */
  observe(server: ObservedServer): void;
}

/** The kinds of tokens in a token response. */
export type TokenKind = 'access_token' | 'refresh_token' | 'id_token';

/** A running task. */
export interface Measurement {
  /**
   * Calls `work` once, immediately, and returns its result. Everything that `work` awaits belongs
   * to the task.
   */
  run<T>(work: () => T): T;
  /**
   * Called when the task is done. `failure` is null, or a reason from a fixed set. `status` is the
   * endpoint's HTTP status, and 0 for every other task.
   */
  end(failure: string | null, status: number): void;
}

/**
 * The server's state, as far as it is known. Methods that return a promise may reject, for example
 * while the store is unavailable.
 */
export interface ObservedServer {
  /**
   * How often statements and transactions were retried. The counts only grow. Null if the store
   * does not count them.
   */
  retries(): { readonly statements: number; readonly transactions: number } | null;
  /**
   * The connections to a database server. Null if there are none, or if the store does not count
   * them.
   */
  connections(): DatabaseConnections | null;
  /** The current signing key of each algorithm, and its age in seconds, if known. */
  signingKeys(): Promise<readonly { readonly algorithm: string; readonly age: number }[]>;
  /**
   * Reads the first `limit` authorizations after this id and counts those that are neither revoked
   * nor expired.
   */
  authorizations(after: string, limit: number): Promise<CountedRows>;
  /** Reads the first `limit` clients after this id and counts those that are not revoked. */
  clients(after: string, limit: number): Promise<CountedRows>;
  /** Counts the messages in the outbox. Null if no feature sends messages. */
  outbox(): Promise<OutboxCounts | null>;
}

/** Measures what one server does, and reports it to the application's `Telemetry`. */
export interface Measuring {
  /** Runs an endpoint's work and measures it. Returns its result, or rejects with its error. */
  endpoint(
    task: MeasuredEndpoint,
    request: Request,
    work: () => Promise<Response>,
  ): Promise<Response>;
  /** Runs a grant's work and measures it. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T>;
  /** Returns a store that also measures each of its operations. */
  wrapStore(store: Store): Store;
  /** Like `Telemetry.answered`. For endpoints, `endpoint()` already reports this. */
  answered(endpoint: string, status: number): void;
  /** Like `Telemetry.tokenIssued`. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /** Like `Telemetry.replayed`. */
  replayed(what: 'code' | 'refresh_token'): void;
  /** Like `Telemetry.refused`, with the error's own code as the reason. */
  refused(endpoint: string, error: Error): void;
  /** Like `refused`, but with a status as the reason, if there is no error. */
  refusedWith(endpoint: string, status: number): void;
  /** Like `Telemetry.observe`. Called when the server is complete. `clock` is in milliseconds. */
  observe(keys: KeyRing, clock: () => number, outbox: Outbox): void;
}
