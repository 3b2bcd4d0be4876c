import type { Acting } from 'portico';

/**
 * Imports data from another server. Both methods check all records before they write anything. It
 * is safe to repeat an import with the same records.
 */
export interface Importing {
  /**
   * Registers clients with their existing ids. Each record uses the field names of RFC 7591 section
   * 2, and `client_secret_hash`. Registers all clients in one transaction, or none if any record is
   * rejected. An existing client that is identical to its record stays unchanged.
   *
   * Throws a RegistrationError in these cases:
   *
   * - `records` has more than 1000 entries.
   * - Another request registered one of the ids during the import.
   */
  clients(records: readonly unknown[], options?: ClientImportOptions): Promise<ClientImport>;
  /**
   * Imports the subjects (`sub`) by which other applications know users. Each record has the form
   * `{ provider, id, sub }`. Writes nothing if the check rejects any record. A user's existing
   * subject never changes, and two users never get the same subject. Throws a RegistrationError if
   * there are more than 100,000 records.
   *
   * The subjects are written one after another. If a user gets a subject in the meantime, the
   * outcome of this user's record is `refused`, and the other records are still written.
   */
  subjects(records: readonly unknown[], options?: ImportOptions): Promise<SubjectImport>;
}

/** The options of an import. */
export interface ImportOptions extends Acting {
  /** Whether to only report what would happen, without writing anything. Default: false. */
  readonly dryRun?: boolean;
  /**
   * Called with the number of records that have been checked so far. If the import then writes
   * anything, called again with the number of records that have been processed so far.
   */
  readonly report?: (records: number) => void;
}

/** The options of a client import. */
export interface ClientImportOptions extends ImportOptions {
  /**
   * Whether to create a new secret for each client that needs one and whose record has neither
   * `client_secret` nor `client_secret_hash`. Default: false.
   */
  readonly newSecrets?: boolean;
}

/** The result for one record. A dry run returns the result that a real import would have. */
export interface ImportedRecord {
  /** The position of the record, starting at 1. */
  readonly record: number;
  /**
   * What happened to the record. `unchanged` means that the server already has an identical entry.
   */
  readonly outcome: 'imported' | 'unchanged' | 'refused';
  /** Why the record was rejected, or null if it was accepted. */
  readonly problem: string | null;
}

/** The result for one client. */
export interface ImportedClient extends ImportedRecord {
  /** The client's id, or null if the record has no valid id. */
  readonly clientId: string | null;
  /**
   * How the client differs from its record, in sentences for an operator. This includes omitted
   * fields.
   */
  readonly changes: readonly string[];
  /**
   * The new secret, or null if none was created. It is shown only here, because the server stores
   * only its hash.
   */
  readonly secret: string | null;
}

/** The result of a client import. */
export interface ClientImport {
  /** Whether the import wrote anything. */
  readonly written: boolean;
  /** The result for each record, in the order of the records. */
  readonly clients: readonly ImportedClient[];
}

/** The result of a subject import. */
export interface SubjectImport {
  /** Whether the import wrote anything. */
  readonly written: boolean;
  /** The result for each record, in the order of the records. */
  readonly subjects: readonly ImportedRecord[];
}
