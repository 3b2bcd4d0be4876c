import type { Acting } from 'portico';

/**
 * Imports data from another server. Both methods check every record before they write anything. You
 * can run them again.
 */
export interface Importing {
  /**
   * Registers clients under their existing ids. Each record uses the field names in RFC 7591
   * section 2, and `client_secret_hash`. If one record is rejected, nothing is written. Otherwise
   * all clients are registered in one transaction. An identical existing client is left unchanged.
   * Throws a RegistrationError for too many records, and if one of the ids is registered meanwhile.
   */
  clients(records: readonly unknown[], options?: ClientImportOptions): Promise<ClientImport>;
  /**
   * Imports the identifiers by which applications know people (`sub`), from records `{ provider,
   * id, sub }`. A person who already has a subject keeps it. A subject is never given to a second
   * person. If a record is rejected, nothing is written. Throws a RegistrationError for too many
   * records.
   */
  subjects(records: readonly unknown[], options?: ImportOptions): Promise<SubjectImport>;
}

/** Options for an import. */
export interface ImportOptions extends Acting {
  /** Whether to only report, without writing. Defaults to false. */
  readonly dryRun?: boolean;
  /** Called with the number of records that are checked so far. */
  readonly report?: (records: number) => void;
}

/** Options for importing clients. */
export interface ClientImportOptions extends ImportOptions {
  /**
   * Whether to create a new secret for a client that needs one but has neither `client_secret` nor
   * `client_secret_hash`. Defaults to false.
   */
  readonly newSecrets?: boolean;
}

/** The result for a record. In a dry run, what would happen. */
export interface ImportedRecord {
  /** Its position, counted from 1. */
  readonly record: number;
  /** `unchanged`: an identical entry already exists. */
  readonly outcome: 'imported' | 'unchanged' | 'refused';
  /** Why it was rejected, otherwise null. */
  readonly problem: string | null;
}

/** The result for a client. */
export interface ImportedClient extends ImportedRecord {
  /** Null if the record does not contain a valid id. */
  readonly clientId: string | null;
  /** What differs from the record or was left out, with a sentence for each change. */
  readonly changes: readonly string[];
  /**
   * The new secret. It is shown once, and only its hash is stored. Null for a client that keeps its
   * secret or does not have one.
   */
  readonly secret: string | null;
}

/** The result for all clients. */
export interface ClientImport {
  /** Whether anything was written. */
  readonly written: boolean;
  /** The results in the order of the records. */
  readonly clients: readonly ImportedClient[];
}

/** The result for all subjects. */
export interface SubjectImport {
  /** Whether anything was written. */
  readonly written: boolean;
  /** The results in the order of the records. */
  readonly subjects: readonly ImportedRecord[];
}
