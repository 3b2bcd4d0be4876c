/**
 * What the server reports about its work to telemetry. It contains no secret, token or code, and
 * nothing that a stranger sent, except the request with which an endpoint begins.
 */
import type { DatabaseConnections, SqlDialect } from '@portico/sql';

/**
 * Work that takes time. Each task is one object for the lifetime of the server, so that you can
 * keep data by it.
 */
export type MeasuredTask = MeasuredEndpoint | MeasuredGrant | MeasuredStoreOperation;

/** A request of an endpoint. */
export interface MeasuredEndpoint {
  /** Always `endpoint`. */
  readonly kind: 'endpoint';
  /** The endpoint's name, such as `oauth_server_token`. */
  readonly name: string;
  /** The endpoint's path, such as `/oauth/token`: never the one that was sent. */
  readonly route: string;
}

/** A token request of a client that has authenticated. */
export interface MeasuredGrant {
  /** Always `grant`. */
  readonly kind: 'grant';
  /** One of the values of `grant_type` that the server knows. */
  readonly name: string;
}

/** A whole step of the store: one statement, or one transaction with all of its retries. */
export interface MeasuredStoreOperation {
  /** Always `store`. */
  readonly kind: 'store';
  /** Such as `rotateRefreshToken`. */
  readonly name: string;
  /** The engine of the store. */
  readonly dialect: SqlDialect;
}

/**
 * Receives measurements; `opentelemetry()` of `portico/telemetry` is an implementation. What it
 * throws, or rejects with, is logged and does not affect the request. The server does not wait for
 * what it returns.
 */
export interface Telemetry {
  /**
   * A task begins. `request` is that of an endpoint, and null for every other task. Read only its
   * method and the headers of a trace: its URL and other headers hold secrets, and the server reads
   * its body.
   */
  begin(task: MeasuredTask, request: Request | null): Measurement;
  /** An endpoint (or `token()`, for a route of the host) answered with this status. */
  answered(endpoint: string, status: number): void;
  /** A token of this kind was issued for the first time. */
  tokenIssued(grantType: string, kind: TokenKind): void;
  /** A request was refused, for one of a fixed set of reasons, such as `invalid_grant`. */
  refused(endpoint: string, reason: string): void;
  /** A code or a refresh token was used a second time. */
  replayed(what: 'code' | 'refresh_token'): void;
  /** This many expired rows of a kind, such as `access_tokens`, were removed; at least 1. */
  removed(rows: string, count: number): void;
  /** A server starts. Its state may be read from now on. */
  observe(server: ObservedServer): void;
}

/** The kinds of token in a token response. */
export type TokenKind = 'access_token' | 'refresh_token' | 'id_token';

/** A task that has begun. */
export interface Measurement {
  /**
   * Calls the work once, immediately, and returns its result. Everything that the work awaits
   * belongs to the task.
   */
  run<T>(work: () => T): T;
  /**
   * The task is done. `failure` is null, or one of a fixed set of reasons; `status` is that of an
   * endpoint's answer, and 0 for every other task.
   */
  end(failure: string | null, status: number): void;
}

/**
 * The state of a server, as far as it is known. A member that returns a promise may reject, for
 * example while the store is away.
 */
export interface ObservedServer {
  /**
   * How often statements and transactions ran again; they only grow. Null for a store that does not
   * count them.
   */
  retries(): { readonly statements: number; readonly transactions: number } | null;
  /**
   * The connections to a database server; null if there are none, or the store does not count them.
   */
  connections(): DatabaseConnections | null;
  /** The current signing key of each algorithm, and its age in seconds, if known. */
  signingKeys(): Promise<readonly { readonly algorithm: string; readonly age: number }[]>;
  /**
   * Counts, among the first `limit` authorizations after this id, those that are neither revoked
   * nor expired.
   */
  authorizations(after: string, limit: number): Promise<CountedRows>;
  /** Counts, among the first `limit` clients after this id, those that are not revoked. */
  clients(after: string, limit: number): Promise<CountedRows>;
}

/** Some rows of a table, in the order of their ids. */
export interface CountedRows {
  /** How many of them meet the condition. */
  readonly living: number;
  /** The id of the last of them; null if there are no more. */
  readonly last: string | null;
}
