import type { Database, MigrationState } from '@portico/sql';
import type { AuthorizationServer } from '../authorization-server.ts';

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

/** The input of the examinations. */
export interface Subject {
  readonly application: ExaminedApplication;
  readonly server: AuthorizationServer;
}
