import { type Database, insertIfNone } from '@portico/sql';

/** Something that may be used once, such as an assertion, and was used. */
export interface SingleUse {
  /** SHA-256 of its kind, of whom it is, and of its `jti`. */
  readonly hash: string;
  readonly expiresAt: number;
}

/** What may be used once, and was used: `oauth_single_uses`. */
export class SingleUseRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Takes this for good, once in all processes: false when it was taken before. It stays taken at least until it expires. When it is
   * not known whether it was taken, this throws, and nobody has it.
   */
  claimSingleUse({ hash, expiresAt }: SingleUse): Promise<boolean> {
    // The row is the claim: of any number at once, on any node, one inserts it.
    return insertIfNone(this.#database, ROW, '(hash)', [hash, expiresAt]);
  }
}

const ROW = 'oauth_single_uses (hash, expires_at) VALUES (?, ?)';
