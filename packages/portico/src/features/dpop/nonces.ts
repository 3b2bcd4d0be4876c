import { CLOCKS_DIFFER, type Sealer } from '../../server.ts';

/**
 * Times in milliseconds:
 *
 * - `HANDED_OUT`: how long the server issues the same nonce.
 * - `GOOD`: how long a nonce is valid.
 */
const HANDED_OUT = 30_000;
const GOOD = 180_000;

/**
 * The purpose of the encryption. It is not a valid cookie name, so the server never accepts an
 * encrypted cookie as a nonce.
 */
const NAME = '; dpop nonce';

/**
 * Issues and checks nonces if `oauth_server:dpop_nonces` is on (RFC 9449 section 8). A nonce is the
 * encrypted time. Every process of the installation can create and decrypt nonces, so the server
 * stores nothing. If a client sends no nonce or an old nonce, the server sends a new nonce, and the
 * client repeats its request.
 */
export class DpopNonces {
  readonly #sealer: Sealer;
  readonly #clock: () => number;
  #latest = { nonce: '', madeAt: Number.NEGATIVE_INFINITY };

  constructor(sealer: Sealer, clock: () => number) {
    this.#sealer = sealer;
    this.#clock = clock;
  }

  /** Returns the value of the `DPoP-Nonce` header. */
  async current(): Promise<string> {
    const now = this.#clock();
    const age = now - this.#latest.madeAt;
    if (age >= 0 && age < HANDED_OUT) return this.#latest.nonce;
    this.#latest = { nonce: await this.#sealer.seal(NAME, String(now)), madeAt: now };
    return this.#latest.nonce;
  }

  /** Whether this installation created the nonce recently enough. */
  async isGood(nonce: string): Promise<boolean> {
    const latest = this.#latest;
    const madeAt =
      nonce === latest.nonce ? String(latest.madeAt) : await this.#sealer.open(NAME, nonce);
    if (madeAt === null) return false;
    const age = this.#clock() - Number(madeAt);
    return age < GOOD && age > -CLOCKS_DIFFER;
  }
}
