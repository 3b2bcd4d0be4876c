import { tokenHash } from '../crypto.ts';
import type { Pruning } from './pruning.ts';
import type { SingleUseRecords } from './sql/single-uses.ts';

/** Two kinds never take each other's. */
export type SingleUseKind = 'assertion' | 'proof' | 'form';

/** What may be used once in all processes: something signed, known by the `jti` in it, or a form. */
export class SingleUses {
  readonly #records: SingleUseRecords;
  readonly #pruning: Pick<Pruning, 'tick'>;

  constructor(records: SingleUseRecords, pruning: Pick<Pruning, 'tick'>) {
    this.#records = records;
    this.#pruning = pruning;
  }

  /**
   * Whether this is the first use, which it then was. `of` names what is used, apart from all others of its kind, until it expires
   * (milliseconds since 1970). Throws when nobody can know; then it may be used.
   */
  async claim(kind: SingleUseKind, of: readonly string[], expiresAt: number): Promise<boolean> {
    const hash = tokenHash(JSON.stringify([kind, ...of]));
    const isFirst = await this.#records.claimSingleUse({ hash, expiresAt });
    if (isFirst) await this.#pruning.tick();
    return isFirst;
  }
}
