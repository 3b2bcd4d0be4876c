import type { WrittenStore } from './store/write-nothing.ts';
import type { Finding, MigrationState } from '@portico/sql';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * A part of the doctor's report that a feature provides. The report leaves out parts without
 * findings.
 */
export interface Examination {
  /** The name of the part in the report, such as `administration`. */
  readonly part: string;
  /**
   * What this part examines. If the store does not respond, the doctor skips `clients`. Findings
   * about `registered clients` come after the doctor's own findings about clients. Default:
   * `application`.
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

export interface ExaminedServer {
  /** The server's public origin. */
  readonly origin: string;
  /** The section `oauth_server`, after validation. */
  readonly config: object;
}

/**
 * The application that the doctor examines. Without the kit, pass your store and your schema. The
 * doctor then skips the other checks. The kit's `Application` has this type.
 */
export interface ExaminedApplication {
  /**
   * The store of the server. Without `transaction`, the doctor cannot detect a full disk of SQLite.
   */
  readonly database: WrittenStore & { readonly schema?: string | null };
  /**
   * The connection pool of the store: its maximum size, and how long it keeps a connection, in
   * seconds. Null or missing if unknown.
   */
  readonly pool?: { readonly size: number; readonly lifetime: number } | null;
  /**
   * Returns all migrations and their states. With your own store, call `migrationStatus` from
   * `portico`.
   */
  migrations(): Promise<readonly MigrationState[]>;
  /** Returns true if the application has a route with this name. */
  hasRoute?(name: string): boolean;
  /** Returns the application's response to a request. */
  fetch?(request: Request): Promise<Response>;
  /** The application's configuration, after validation. The doctor reads `csrf_exempt_routes`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The application's views. `problems` returns those that cannot be compiled. */
  readonly views?: {
    problems(): Promise<
      readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
    >;
  };
}

/**
 * Fetches a JSON document without following redirects. Returns a finding on failure. `statuses`
 * lists the HTTP statuses to accept, by default only 200.
 */
export type FetchDocument = (
  url: string,
  headers?: Readonly<Record<string, string>>,
  statuses?: readonly number[],
) => Promise<FetchedDocument | { readonly fault: Finding }>;

export interface FetchedDocument {
  readonly status: number;
  readonly document: object;
  readonly headers: IncomingHttpHeaders;
  /** The local address that sent the request. */
  readonly from: string | null;
}
