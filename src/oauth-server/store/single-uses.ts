import { tokenHash } from '../crypto.ts';
import type { Pruning } from './pruning.ts';
import type { SingleUseRecords } from './sql/single-uses.ts';

/** What is good once in all processes: something that somebody signed, known by the `jti` in it, or a form. */
export interface SingleUses {
  /**
   * Whether this is the first use, which it then was. `of` names what is used, apart from all others of its kind, until it expires
   * (milliseconds since 1970). Throws when nobody can know; then it may be used.
   */
  claim(kind: SingleUseKind, of: readonly string[], expiresAt: number): Promise<boolean>;
}

/** Two kinds never take each other's. */
export type SingleUseKind = 'assertion' | 'proof' | 'form';

export function createSingleUses({
  store,
  pruning,
}: {
  readonly store: SingleUseRecords;
  readonly pruning: Pick<Pruning, 'tick'>;
}): SingleUses {
  return {
    async claim(kind, of, expiresAt) {
      const isFirst = await store.claimSingleUse({
        hash: tokenHash(JSON.stringify([kind, ...of])),
        expiresAt,
      });
      if (isFirst) await pruning.tick();
      return isFirst;
    },
  };
}
