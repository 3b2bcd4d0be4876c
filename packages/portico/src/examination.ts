import type { WrittenStore } from './store/write-nothing.ts';
import type { Finding, MigrationState } from '@portico/sql';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * One part of the doctor's report about a feature. The report leaves it out if it has no findings.
 */
export interface Examination {
  /** The part's name in the report, such as `administration`. */
  readonly part: string;
  /**
   * What this part examines. To examine clients, the store must be reachable. Findings about
   * registered clients appear with the clients. Default: the application.
   */
  readonly of?: 'application' | 'clients' | 'registered clients';
  /** Returns the current findings. */
  findings?(application: ExaminedApplication): readonly Finding[] | Promise<readonly Finding[]>;
  /** Returns the findings from requests to the server's public address. */
  publicFindings?(
    application: ExaminedApplication,
    fetchDocument: FetchDocument,
    server: ExaminedServer,
  ): Promise<readonly Finding[]>;
}

/** The server that the doctor examines. */
export interface ExaminedServer {
  /** Its public origin. */
  readonly origin: string;
  /** The server's validated section `oauth_server`. */
  readonly config: object;
}

/**
 * The application that the doctor examines. The host kit's `Application` has this type. Without the
 * kit, pass your store and schema. The doctor then skips the other checks.
 */
export interface ExaminedApplication {
  /**
   * The server's store. Without `transaction`, the doctor cannot detect a full disk with SQLite.
   */
  readonly database: WrittenStore & { readonly schema?: string | null };
  /**
   * The store's connection pool: its maximum size, and how long a connection is used, in seconds.
   * Leave it out, or set it to null, if it is unknown or the store has no pool.
   */
  readonly pool?: { readonly size: number; readonly lifetime: number } | null;
  /** Returns every schema step. `migrationStatus` from `portico` reads them from a store. */
  migrations(): Promise<readonly MigrationState[]>;
  /** Whether a route with this name exists. */
  hasRoute?(name: string): boolean;
  /** Returns the application's response to a request. */
  fetch?(request: Request): Promise<Response>;
  /** The validated configuration. The doctor reads `csrf_exempt_routes`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The application's views. `problems` returns the views that cannot be compiled. */
  readonly views?: {
    problems(): Promise<
      readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
    >;
  };
}

/**
 * Fetches a JSON document. Does not follow redirects. Returns an error as a finding. `statuses` are
 * the accepted HTTP statuses. Default: only 200.
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
  /** The local address that this process sends from. */
  readonly from: string | null;
}
