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
   * What this part examines. An examination of clients runs only if the store responds. Findings
   * about registered clients appear together with the clients. Default: the application.
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
 * The application that the doctor examines. The `Application` of the host kit has this type.
 * Without the kit, pass your store and your schema. The doctor then skips the other checks.
 */
export interface ExaminedApplication {
  /**
   * The server's store. If it has no `transaction`, the doctor cannot detect a full disk with
   * SQLite.
   */
  readonly database: WrittenStore & { readonly schema?: string | null };
  /**
   * The connection pool of the store: its maximum size, and for how many seconds it uses a
   * connection. Leave this out, or set it to null, if it is unknown or the store has no pool.
   */
  readonly pool?: { readonly size: number; readonly lifetime: number } | null;
  /** Returns every migration. `migrationStatus` from `portico` reads them from a store. */
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
 * the HTTP statuses to accept. By default, this is only 200.
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
  /** The local address from which this process sends. */
  readonly from: string | null;
}
