import { tokenHash } from '../crypto.ts';
import type { Pruning } from './pruning.ts';
import type { SingleUseRecords } from './sql/single-uses.ts';

/** The same `jti` can be used once for each kind. */
export type SingleUseKind = 'assertion' | 'proof' | 'form';

/**
 * Values that can be used only once across all processes: forms, and signed strings with a `jti`.
 */
export class SingleUses {
  readonly #records: SingleUseRecords;
  readonly #pruning: Pruning;

  constructor(records: SingleUseRecords, pruning: Pruning) {
    this.#records = records;
    this.#pruning = pruning;
  }

  /**
   * Records a use, and returns true for the first one. `of` identifies the value within its kind
   * until `expiresAt`, in milliseconds since 1970. Throws if the result is unknown. The caller must
   * then refuse the value.
   */
  async claim(kind: SingleUseKind, of: readonly string[], expiresAt: number): Promise<boolean> {
    const hash = tokenHash(JSON.stringify([kind, ...of]));
    const isFirst = await this.#records.claimSingleUse({ hash, expiresAt });
    if (isFirst) await this.#pruning.tick();
    return isFirst;
  }
}
