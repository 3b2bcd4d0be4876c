import { JwsError } from '../../keys/jws/compact.ts';
import { checkDpopProof, type DpopProof } from '../../keys/jws/dpop-proof.ts';
import type { Server } from '../../server.ts';
import { DpopError } from './errors.ts';
import type { DpopNonces } from './nonces.ts';

/** A proof and the request that it must match. */
export interface ProofRequest {
  /** The value of the `DPoP` header, or null. Several headers are joined with commas. */
  readonly proof: string | null;
  readonly method: string;
  /** The public URL that the client requested, before a proxy changed it. */
  readonly url: string;
}

/** Returns the proof in a request to one of this server's URLs. */
export function readProof({ headers, method }: Request, url: string): ProofRequest {
  return { proof: headers.get('dpop'), method, url };
}

/** Checks that a client has its key (RFC 9449), at the server's endpoints and at resources. */
export class Dpop {
  readonly #server: Server;
  readonly #nonces: DpopNonces | null;

  /** `nonces` is null if `oauth_server:dpop_nonces` is off. */
  constructor(server: Server, nonces: DpopNonces | null) {
    this.#server = server;
    this.#nonces = nonces;
  }

  /**
   * Checks the proof, and its nonce if nonces are required. Writes nothing, so call `claim` before
   * you act on the proof. Returns null without a proof. Throws a DpopError if the proof is not
   * valid.
   */
  async check(
    { proof: text, method, url }: ProofRequest,
    accessToken: string | null,
  ): Promise<DpopProof | null> {
    if (text === null) return null;
    const { clock, profiles } = this.#server;
    const proof = checked(() => checkDpopProof(text, { method, url, accessToken, now: clock() }));
    if (profiles.servers !== null) requireAlgorithm(proof, profiles.servers.algorithms);
    const nonces = this.#nonces;
    if (nonces === null) return proof;
    const { nonce } = proof;
    if (nonce !== null && (await nonces.isGood(nonce))) return proof;
    const detail =
      nonce === null
        ? 'the proof has no nonce'
        : 'the nonce of the proof is too old, or comes from another server';
    throw new DpopError('use_dpop_nonce', detail, await nonces.current());
  }

  /**
   * Marks the proof as used until it expires. Throws a DpopError if this or another process already
   * did.
   */
  async claim({ thumbprint, jti, expiresAt }: DpopProof): Promise<void> {
    if (await this.#server.singleUses.claim('proof', [thumbprint, jti], expiresAt)) return;
    throw new DpopError('invalid_dpop_proof', 'DPoP proof refused: it was used before');
  }

  /** Returns the value for the `DPoP-Nonce` header, or null if nonces are not required. */
  async nonce(): Promise<string | null> {
    return this.#nonces?.current() ?? null;
  }
}

/**
 * Throws a DpopError if `allowed` does not contain the proof's algorithm. For example, a security
 * profile forbids it.
 */
export function requireAlgorithm({ algorithm }: DpopProof, allowed: readonly string[]): void {
  if (allowed.includes(algorithm)) return;
  throw new DpopError(
    'invalid_dpop_proof',
    `DPoP proof refused: its alg is ${algorithm}, which the profile does not allow`,
  );
}

function checked(check: () => DpopProof): DpopProof {
  try {
    return check();
  } catch (error) {
    if (error instanceof JwsError)
      throw new DpopError('invalid_dpop_proof', `DPoP proof refused: ${error.message}`);
    throw error;
  }
}
