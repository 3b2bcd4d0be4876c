import type { Database, Finding, MigrationState } from '@portico/sql';
import type { IncomingHttpHeaders } from 'node:http';

/** A part of what the doctor reports of a feature. It is left out if nothing is found. */
export interface Examination {
  /** Names it in the report, such as `administration`. */
  readonly part: string;
  /**
   * What it examines: the application unless given. Clients need a store that answers. What it
   * finds of registered clients is reported with the clients.
   */
  readonly of?: 'application' | 'clients' | 'registered clients';
  /** Its findings now. */
  findings?(application: ExaminedApplication): readonly Finding[] | Promise<readonly Finding[]>;
  /** Its findings at the public address, which leads to this server. */
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
  /** Its validated section `oauth_server`. */
  readonly config: object;
}

/**
 * The application around the server, as the doctor examines it; the host kit's `Application` is
 * one. An application without the kit passes its store and its schema, and the other checks are
 * skipped.
 */
export interface ExaminedApplication {
  /**
   * The store of the server. Without `transaction` the doctor cannot see that the disk of SQLite is
   * full.
   */
  readonly database: Pick<Database, 'dialect' | 'execute' | 'schema'> &
    Partial<Pick<Database, 'transaction'>>;
  /**
   * The pool of that store: its maximum size, and the longest use of a connection in seconds.
   * Missing or null if unknown, or if the store has no pool.
   */
  readonly pool?: { readonly size: number; readonly lifetime: number } | null;
  /** Every step of the schema; `migrationStatus` of `portico` reads it from a store. */
  migrations(): Promise<readonly MigrationState[]>;
  /** Whether a route of this name exists. */
  hasRoute?(name: string): boolean;
  /** Answers a request as the application would. */
  fetch?(request: Request): Promise<Response>;
  /** The validated configuration; the doctor reads `csrf_exempt_routes`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The views of the application; `problems` names those that cannot be compiled. */
  readonly views?: {
    problems(): Promise<
      readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
    >;
  };
}

/**
 * Fetches a JSON document. Follows no redirect. An error becomes a finding. `statuses` are the
 * accepted ones; only 200 unless given.
 */
export type FetchDocument = (
  url: string,
  headers?: Readonly<Record<string, string>>,
  statuses?: readonly number[],
) => Promise<FetchedDocument | { readonly fault: Finding }>;

/** A document, and how it was answered. */
export interface FetchedDocument {
  readonly status: number;
  readonly document: object;
  readonly headers: IncomingHttpHeaders;
  /** The address from which this process sends. */
  readonly from: string | null;
}
