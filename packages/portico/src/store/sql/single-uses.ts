import { type Database, insertIfNone } from '@portico/sql';

/** The use of a value that is valid only once, for example an assertion. */
export interface SingleUse {
  /** SHA-256 of the value's kind, owner and `jti`. */
  readonly hash: string;
  readonly expiresAt: number;
}

export class SingleUseRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Records a use durably. Returns false if any process has recorded this value before. The row
   * stays at least until the value expires. Throws if the result is unknown. The caller must then
   * refuse the value.
   */
  claimSingleUse({ hash, expiresAt }: SingleUse): Promise<boolean> {
    // Of several simultaneous inserts, on any node, only one succeeds.
    return insertIfNone(this.#database, ROW, '(hash)', [hash, expiresAt]);
  }
}

const ROW = 'oauth_single_uses (hash, expires_at) VALUES (?, ?)';
