import type { Sealer } from '../../server.ts';

/**
 * In milliseconds: how long one is handed out, how long it is valid, and how far the clocks of two
 * processes may differ.
 */
const HANDED_OUT = 30_000;
const GOOD = 180_000;
const CLOCKS_DIFFER = 60_000;

/** No cookie can have it. */
const NAME = '; dpop nonce';

/**
 * The nonces that proofs need if `oauth_server:dpop_nonces` is on (RFC 9449 section 8). A nonce is
 * the encrypted time, which every process of the installation can make and read, so nothing is
 * stored. A client without a nonce, or with an old one, gets a new one and asks again.
 */
export class DpopNonces {
  readonly #sealer: Sealer;
  readonly #clock: () => number;
  #latest = { nonce: '', madeAt: Number.NEGATIVE_INFINITY };

  constructor(sealer: Sealer, clock: () => number) {
    this.#sealer = sealer;
    this.#clock = clock;
  }

  /** For the header field `DPoP-Nonce`. */
  async current(): Promise<string> {
    const now = this.#clock();
    const age = now - this.#latest.madeAt;
    if (age >= 0 && age < HANDED_OUT) return this.#latest.nonce;
    this.#latest = { nonce: await this.#sealer.seal(NAME, String(now)), madeAt: now };
    return this.#latest.nonce;
  }

  /** Whether it was made here recently. */
  async isGood(nonce: string): Promise<boolean> {
    const latest = this.#latest;
    const madeAt = nonce === latest.nonce ? String(latest.madeAt) : await this.#sealer.open(NAME, nonce);
    if (madeAt === null) return false;
    const age = this.#clock() - Number(madeAt);
    return age < GOOD && age > -CLOCKS_DIFFER;
  }
}
