import type { Acting } from 'portico';

/**
 * Imports data from another server. Both methods check all records before they write anything. You
 * can safely call a method again with the same records.
 */
export interface Importing {
  /**
   * Registers clients with their existing ids. Each record uses the field names of RFC 7591 section
   * 2, and `client_secret_hash`. If one record is rejected, registers no client. Otherwise,
   * registers all clients in one transaction. If an identical client exists, it stays unchanged.
   *
   * Throws a RegistrationError in these cases:
   *
   * - There are too many records.
   * - Another request registers one of the ids during the import.
   */
  clients(records: readonly unknown[], options?: ClientImportOptions): Promise<ClientImport>;
  /**
   * Imports the public identifiers of users (`sub`). Each record has the form `{ provider, id, sub
   * }`. If a user already has a subject, it stays unchanged. Two users never get the same subject.
   * If one record is rejected, no subject is written. Throws a RegistrationError if there are too
   * many records.
   */
  subjects(records: readonly unknown[], options?: ImportOptions): Promise<SubjectImport>;
}

/** Options of an import. */
export interface ImportOptions extends Acting {
  /** Whether to write nothing and only report what would happen. Default: false. */
  readonly dryRun?: boolean;
  /** Called with the number of records that have been checked so far. */
  readonly report?: (records: number) => void;
}

/** Options of an import of clients. */
export interface ClientImportOptions extends ImportOptions {
  /**
   * Whether to create a secret for a client that needs a secret and whose record has neither
   * `client_secret` nor `client_secret_hash`. Default: false.
   */
  readonly newSecrets?: boolean;
}

/** The result for one record. In a dry run, this is the result that a real import would have. */
export interface ImportedRecord {
  /** The position of the record. The first record has position 1. */
  readonly record: number;
  /** What happened to the record. `unchanged` means that an identical entry already exists. */
  readonly outcome: 'imported' | 'unchanged' | 'refused';
  /** Why the record was rejected. Null if the record was accepted. */
  readonly problem: string | null;
}

/** The result for one client. */
export interface ImportedClient extends ImportedRecord {
  /** The client's id. It is null if the record does not contain a valid id. */
  readonly clientId: string | null;
  /**
   * How the client differs from the record, one sentence for each difference. Includes omitted
   * fields.
   */
  readonly changes: readonly string[];
  /**
   * The new secret. It is shown only here, because the server stores only its hash. It is null if
   * no new secret was created.
   */
  readonly secret: string | null;
}

/** The result for all clients. */
export interface ClientImport {
  /** Whether anything was written. */
  readonly written: boolean;
  /** The results, in the order of the records. */
  readonly clients: readonly ImportedClient[];
}

/** The result for all subjects. */
export interface SubjectImport {
  /** Whether anything was written. */
  readonly written: boolean;
  /** The results, in the order of the records. */
  readonly subjects: readonly ImportedRecord[];
}
