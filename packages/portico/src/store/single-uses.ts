import { tokenHash } from '../crypto.ts';
import type { Pruning } from './pruning.ts';
import type { SingleUseRecords } from './sql/single-uses.ts';

/** Kinds are independent: the same `jti` may be used once in each. */
export type SingleUseKind = 'assertion' | 'proof' | 'form';

/**
 * Things that may be used once across all processes: something signed, identified by its `jti`, or
 * a form.
 */
export class SingleUses {
  readonly #records: SingleUseRecords;
  readonly #pruning: Pruning;

  constructor(records: SingleUseRecords, pruning: Pruning) {
    this.#records = records;
    this.#pruning = pruning;
  }

  /**
   * Records a use, and returns whether it is the first one. `of` identifies the thing among its
   * kind until it expires (milliseconds since 1970). Throws when the result is unknown; then the
   * thing may still be used.
   */
  async claim(kind: SingleUseKind, of: readonly string[], expiresAt: number): Promise<boolean> {
    const hash = tokenHash(JSON.stringify([kind, ...of]));
    const isFirst = await this.#records.claimSingleUse({ hash, expiresAt });
    if (isFirst) await this.#pruning.tick();
    return isFirst;
  }
}
