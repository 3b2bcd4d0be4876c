import type { WrittenStore } from './store/write-nothing.ts';
import type { Finding, MigrationState } from '@portico/sql';
import type { IncomingHttpHeaders } from 'node:http';

/** A feature's part of the doctor's report. The report leaves out a part without findings. */
export interface Examination {
  /** The part's name in the report, such as `administration`. */
  readonly part: string;
  /**
   * What this part examines. If the store does not respond, the doctor skips examinations of
   * `clients`. Findings about `registered clients` are listed after the doctor's own findings about
   * clients. Default: `application`.
   */
  readonly of?: 'application' | 'clients' | 'registered clients';
  /** Returns the current findings. */
  findings?(application: ExaminedApplication): readonly Finding[] | Promise<readonly Finding[]>;
  /** Sends requests to the server's public address, and returns the findings. */
  publicFindings?(
    application: ExaminedApplication,
    fetchDocument: FetchDocument,
    server: ExaminedServer,
  ): Promise<readonly Finding[]>;
}

/** The server that the doctor examines. */
export interface ExaminedServer {
  /** The server's public origin. */
  readonly origin: string;
  /** The server's validated section `oauth_server`. */
  readonly config: object;
}

/**
 * The application that the doctor examines. The host kit's `Application` has this type. Without the
 * kit, pass your store and your schema. The doctor then skips the other checks.
 */
export interface ExaminedApplication {
  /**
   * The server's store. Without `transaction`, the doctor cannot detect that the disk of a SQLite
   * database is full.
   */
  readonly database: WrittenStore & { readonly schema?: string | null };
  /**
   * The store's connection pool: its maximum size, and how many seconds it keeps a connection. Null
   * or missing if the store has no pool or these values are unknown.
   */
  readonly pool?: { readonly size: number; readonly lifetime: number } | null;
  /**
   * Returns every migration, with its state. With your own store, call `migrationStatus` from
   * `portico`.
   */
  migrations(): Promise<readonly MigrationState[]>;
  /** Whether a route with this name exists. */
  hasRoute?(name: string): boolean;
  /** Returns the application's response to a request. */
  fetch?(request: Request): Promise<Response>;
  /** The application's validated configuration. The doctor reads `csrf_exempt_routes` in it. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The application's views. `problems` returns the views that cannot be compiled. */
  readonly views?: {
    problems(): Promise<
      readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
    >;
  };
}

/**
 * Fetches a JSON document without following redirects. Returns a finding instead of throwing.
 * `statuses` are the accepted HTTP statuses. Default: only 200.
 */
export type FetchDocument = (
  url: string,
  headers?: Readonly<Record<string, string>>,
  statuses?: readonly number[],
) => Promise<FetchedDocument | { readonly fault: Finding }>;

/** A fetched document, with the response's status and headers. */
export interface FetchedDocument {
  readonly status: number;
  readonly document: object;
  readonly headers: IncomingHttpHeaders;
  /** The local address that the request was sent from. */
  readonly from: string | null;
}
