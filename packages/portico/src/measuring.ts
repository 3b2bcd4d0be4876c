/**
 * The data that the server reports to telemetry. It contains no secret, token or code. It also
 * contains no client input, except for the request that `begin` receives for an endpoint.
 */
import type { DatabaseConnections, SqlDialect } from '@portico/sql';
import type { KeyRing } from './keys/key-ring.ts';
import type { OutboxCounts } from './outbox/message.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { CountedRows } from './store/sql/counting.ts';
import type { Store } from './store/store.ts';

/**
 * Work that takes time. A task is the same object for the whole lifetime of the server, so you can
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
 * Receives measurements. `opentelemetry()` from `portico/telemetry` implements this interface. The
 * server does not wait for a promise that a method returns. It logs errors and rejections, and they
 * do not affect the request.
 */
export interface Telemetry {
  /**
   * Called when a task begins. For an endpoint, `request` is the HTTP request. For any other task,
   * it is null. Read only its method and its trace headers, because its URL and other headers
   * contain secrets, and the server reads its body.
   */
  begin(task: MeasuredTask, request: Request | null): Measurement;
  /**
   * Called when an endpoint has responded with this status. `token()` reports routes of the host in
   * the same way.
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
   * Called when expired rows of a kind, such as `access_tokens`, were removed. `count` is at least
   * 1.
   */
  removed(rows: string, count: number): void;
  /** Called when a server starts. From then on, you can read its state. */
  observe(server: ObservedServer): void;
}

/** The kinds of tokens in a token response. */
export type TokenKind = 'access_token' | 'refresh_token' | 'id_token';

/** A task that has started. */
export interface Measurement {
  /**
   * Calls `work` once, immediately, and returns its result. Everything that `work` awaits is a part
   * of the task.
   */
  run<T>(work: () => T): T;
  /**
   * Called when the task is done. `failure` is null, or a reason from a fixed set. `status` is the
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
   * How often statements and transactions were tried again. The numbers only grow. Null if the
   * store does not count retries.
   */
  retries(): { readonly statements: number; readonly transactions: number } | null;
  /**
   * The connections to a database server. Null if there are no such connections, or if the store
   * does not count them.
   */
  connections(): DatabaseConnections | null;
  /**
   * Returns the current signing key of each algorithm, with its age in seconds. Leaves out keys
   * whose age is unknown.
   */
  signingKeys(): Promise<readonly { readonly algorithm: string; readonly age: number }[]>;
  /**
   * Reads the first `limit` authorizations after this id. Counts those that are neither revoked nor
   * expired.
   */
  authorizations(after: string, limit: number): Promise<CountedRows>;
  /** Reads the first `limit` clients after this id. Counts those that are not revoked. */
  clients(after: string, limit: number): Promise<CountedRows>;
  /** Counts the messages in the outbox. Returns null if no feature sends messages. */
  outbox(): Promise<OutboxCounts | null>;
}

/** Measures one server, and reports to the application's `Telemetry`. */
export interface Measuring {
  /** Runs an endpoint's work and measures it. Returns its result, or rejects with its error. */
  endpoint<T extends { readonly status: number }>(
    task: MeasuredEndpoint,
    request: Request,
    work: () => Promise<T>,
  ): Promise<T>;
  /** Runs a grant's work and measures it. */
  grant<T>(task: MeasuredGrant, work: () => Promise<T>): Promise<T>;
  /** Returns a store that also measures each of its operations. */
  wrapStore(store: Store): Store;
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
   * Like `Telemetry.observe`. Called when the server is complete. `clock` returns milliseconds
   * since 1970.
   */
  observe(keys: KeyRing, clock: () => number, outbox: Outbox): void;
}
