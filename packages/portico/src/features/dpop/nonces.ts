/**
 * The nonces that proofs need if `oauth_server:dpop_nonces` is on (RFC 9449 section 8). A nonce is
 * the encrypted time, which every process of the installation can make and read, so nothing is
 * stored. A client without a nonce, or with an old one, gets a new one and asks again.
 */
export interface DpopNonces {
  /** For the header field `DPoP-Nonce`. */
  current(): Promise<string>;
  /** Whether it was made here recently. */
  isGood(nonce: string): Promise<boolean>;
}

export interface DpopNoncesOptions {
  /** Encrypts with a key that all processes of the installation have. */
  readonly sealer: {
    readonly seal: (name: string, content: string) => Promise<string>;
    /** Null for anything that was not encrypted under this name. */
    readonly open: (name: string, sealed: string) => Promise<string | null>;
  };
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/**
 * In milliseconds: how long one is handed out, how long it is valid, and how far the clocks of two
 * processes may differ.
 */
const HANDED_OUT = 30_000;
const GOOD = 180_000;
const CLOCKS_DIFFER = 60_000;

/** No cookie can have it. */
const NAME = '; dpop nonce';

export function createDpopNonces({ sealer, clock }: DpopNoncesOptions): DpopNonces {
  let latest = { nonce: '', madeAt: Number.NEGATIVE_INFINITY };
  return {
    async current() {
      const now = clock();
      const age = now - latest.madeAt;
      if (age >= 0 && age < HANDED_OUT) return latest.nonce;
      latest = { nonce: await sealer.seal(NAME, String(now)), madeAt: now };
      return latest.nonce;
    },
    async isGood(nonce) {
      const madeAt = nonce === latest.nonce ? String(latest.madeAt) : await sealer.open(NAME, nonce);
      if (madeAt === null) return false;
      const age = clock() - Number(madeAt);
      return age < GOOD && age > -CLOCKS_DIFFER;
    },
  };
}
