import type { Acting } from 'portico';

/**
 * Imports data from another server. Both check every record before anything is written, and can be
 * run again.
 */
export interface Importing {
  /**
   * Registers clients under their existing ids, each described by the field names of RFC 7591
   * section 2 and `client_secret_hash`. When one is refused, nothing is written; otherwise all are
   * registered in one transaction. A client that is there already, and is the same, stays. Throws a
   * RegistrationError for too many, and if one of the ids is registered meanwhile.
   */
  clients(records: readonly unknown[], options?: ClientImportOptions): Promise<ClientImport>;
  /**
   * Says what applications know people by (`sub`): records `{ provider, id, sub }`. A person who
   * has a subject keeps it, and no subject is given to a second person. When a record is refused
   * nothing is written. Throws a RegistrationError when there are too many.
   */
  subjects(records: readonly unknown[], options?: ImportOptions): Promise<SubjectImport>;
}

/** How an import is done. */
export interface ImportOptions extends Acting {
  /** Whether to report only, and write nothing; false unless given. */
  readonly dryRun?: boolean;
  /** Called with the number of records checked so far. */
  readonly report?: (records: number) => void;
}

/** How clients are imported. */
export interface ClientImportOptions extends ImportOptions {
  /**
   * Whether a client without `client_secret` and `client_secret_hash`, which needs a secret, is
   * given a new one; false unless given.
   */
  readonly newSecrets?: boolean;
}

/** What happened to a record, or would happen. */
export interface ImportedRecord {
  /** Its place, counted from 1. */
  readonly record: number;
  /** `unchanged`: it existed already, and is the same. */
  readonly outcome: 'imported' | 'unchanged' | 'refused';
  /** Why it was refused; null otherwise. */
  readonly problem: string | null;
}

/** What became of a client. */
export interface ImportedClient extends ImportedRecord {
  /** Null if the record has no possible id. */
  readonly clientId: string | null;
  /** What differs here from the record, or was left out: a sentence each. */
  readonly changes: readonly string[];
  /**
   * A new secret, which is shown once and kept as a hash; null for a client that keeps its own, and
   * for one that has none.
   */
  readonly secret: string | null;
}

/** What became of the clients. */
export interface ClientImport {
  /** Whether anything was written. */
  readonly written: boolean;
  /** In the order of the records. */
  readonly clients: readonly ImportedClient[];
}

/** What became of the subjects. */
export interface SubjectImport {
  /** Whether anything was written. */
  readonly written: boolean;
  /** In the order of the records. */
  readonly subjects: readonly ImportedRecord[];
}
