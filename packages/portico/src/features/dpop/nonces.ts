import { CLOCKS_DIFFER, type Sealer } from '../../server.ts';

/**
 * The lifetimes of a nonce, in milliseconds:
 *
 * - `HANDED_OUT`: how long the server continues to send the same nonce to clients.
 * - `GOOD`: how long the server accepts a nonce.
 */
const HANDED_OUT = 30_000;
const GOOD = 180_000;

/**
 * The purpose for which nonces are encrypted. It is not a valid cookie name, so the server never
 * accepts an encrypted cookie as a nonce.
 */
const NAME = '; dpop nonce';

/**
 * Issues and checks nonces for DPoP proofs if `oauth_server:dpop_nonces` is on (RFC 9449 section
 * 8). A nonce is the encrypted time at which it was created. Every process of the installation can
 * create and decrypt nonces, so the server does not store them. If a client sends no nonce or an
 * old one, the server sends a new nonce, and the client repeats its request.
 */
export class DpopNonces {
  readonly #sealer: Sealer;
  readonly #clock: () => number;
  #latest = { nonce: '', madeAt: Number.NEGATIVE_INFINITY };

  constructor(sealer: Sealer, clock: () => number) {
    this.#sealer = sealer;
    this.#clock = clock;
  }

  /** Returns the nonce to send in the `DPoP-Nonce` header. */
  async current(): Promise<string> {
    const now = this.#clock();
    const age = now - this.#latest.madeAt;
    if (age >= 0 && age < HANDED_OUT) return this.#latest.nonce;
    this.#latest = { nonce: await this.#sealer.seal(NAME, String(now)), madeAt: now };
    return this.#latest.nonce;
  }

  /** Whether this installation created the nonce, and recently enough. */
  async isGood(nonce: string): Promise<boolean> {
    const latest = this.#latest;
    const madeAt =
      nonce === latest.nonce ? String(latest.madeAt) : await this.#sealer.open(NAME, nonce);
    if (madeAt === null) return false;
    const age = this.#clock() - Number(madeAt);
    return age < GOOD && age > -CLOCKS_DIFFER;
  }
}
