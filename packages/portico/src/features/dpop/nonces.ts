import { CLOCKS_DIFFER, type Sealer } from '../../server.ts';

/**
 * In milliseconds: how long the server sends the same nonce (`HANDED_OUT`), and how long it accepts
 * a nonce (`GOOD`).
 */
const HANDED_OUT = 30_000;
const GOOD = 180_000;

/**
 * The purpose of the encryption. It is not a valid cookie name, so an encrypted cookie is never a
 * nonce.
 */
const NAME = '; dpop nonce';

/**
 * Issues and checks nonces for DPoP proofs (RFC 9449 section 8). A nonce is the encrypted time at
 * which it was created. All processes of the installation can decrypt it, so the server does not
 * store it. After a missing or an old nonce, the server sends a new one, and the client repeats its
 * request.
 */
export class DpopNonces {
  readonly #sealer: Sealer;
  readonly #clock: () => number;
  #latest = { nonce: '', madeAt: Number.NEGATIVE_INFINITY };

  constructor(sealer: Sealer, clock: () => number) {
    this.#sealer = sealer;
    this.#clock = clock;
  }

  async current(): Promise<string> {
    const now = this.#clock();
    const age = now - this.#latest.madeAt;
    if (age >= 0 && age < HANDED_OUT) return this.#latest.nonce;
    this.#latest = { nonce: await this.#sealer.seal(NAME, String(now)), madeAt: now };
    return this.#latest.nonce;
  }

  /** Returns true if this installation created the nonce recently enough. */
  async isGood(nonce: string): Promise<boolean> {
    const latest = this.#latest;
    const madeAt =
      nonce === latest.nonce ? String(latest.madeAt) : await this.#sealer.open(NAME, nonce);
    if (madeAt === null) return false;
    const age = this.#clock() - Number(madeAt);
    return age < GOOD && age > -CLOCKS_DIFFER;
  }
}
