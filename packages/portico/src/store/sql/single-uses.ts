import { type Database, insertIfNone } from '@portico/sql';

/** A use of something that may be used once, such as an assertion. */
export interface SingleUse {
  /** SHA-256 of its kind, its owner and its `jti`. */
  readonly hash: string;
  readonly expiresAt: number;
}

/** Uses of things that may be used once: `oauth_single_uses`. */
export class SingleUseRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Records a use permanently, once across all processes. False when it was recorded before. The
   * record stays at least until it expires. Throws when the result is unknown; then no caller may
   * use the thing.
   */
  claimSingleUse({ hash, expiresAt }: SingleUse): Promise<boolean> {
    // The row is the claim: of any number of concurrent inserts, on any node, only one succeeds.
    return insertIfNone(this.#database, ROW, '(hash)', [hash, expiresAt]);
  }
}

const ROW = 'oauth_single_uses (hash, expires_at) VALUES (?, ?)';
