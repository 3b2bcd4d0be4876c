import { insertIfNone } from '../../../sql/insert-if-none.ts';
import type { Database } from '../../../sql/contract.ts';
import type { Store } from '../store.ts';
import { removeWhere } from './statements.ts';

/** What was good once, and has been used: `oauth_single_uses`. */
export function singleUsesTable(database: Database) {
  return {
    // The row is the claim: of any number at once, on any node, one inserts it.
    claimSingleUse: ({ hash, expiresAt }) => insertIfNone(database, ROW, '(hash)', [hash, expiresAt]),

    pruneSingleUses: (expiredBefore, limit) =>
      removeWhere(database, ['oauth_single_uses', 'hash'], ['expires_at', '< ?', [expiredBefore]], limit),
  } satisfies Partial<Store>;
}

const ROW = 'oauth_single_uses (hash, expires_at) VALUES (?, ?)';
