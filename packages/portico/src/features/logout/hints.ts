import type { Clients } from '../../clients/clients.ts';
import { JwsError, parseJws, type Jws } from '../../keys/jws/compact.ts';
import { isSignedBy, JwkError, readPublicKey } from '../../keys/jws/public-keys.ts';
import type { SigningKey } from '../../keys/signing-key.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';

/**
 * The content of a valid `id_token_hint`, which proves that this server issued the token for this
 * person and client.
 */
export interface IdTokenHint {
  readonly subject: string;
  readonly client: Client;
  /** When the token was issued, in seconds since 1970. */
  readonly issuedAt: number;
  /** The session that the token belongs to, or null if the token does not name it. */
  readonly sid: string | null;
}

/** Reads ID tokens that clients send back as a hint (RP-Initiated Logout section 2). */
export class IdTokenHints {
  readonly #server: Server;
  readonly #clients: Clients;

  constructor(server: Server, clients: Clients) {
    this.#server = server;
    this.#clients = clients;
  }

  /**
   * Returns the content of an ID token that this server issued to a client that still exists. The
   * token may have expired, but its key must still be published. Returns null for any other string.
   */
  async read(text: string): Promise<IdTokenHint | null> {
    const jws = parsed(text);
    if (jws === null || !(await this.#isOurs(jws))) return null;
    const { iss, aud, sub, iat, sid } = jws.payload;
    if (iss !== this.#server.issuer || typeof aud !== 'string' || typeof sub !== 'string')
      return null;
    if (typeof iat !== 'number') return null;
    const client = await this.#clients.find(aud);
    return client === null || client.revokedAt !== null
      ? null
      : { subject: sub, client, issuedAt: iat, sid: typeof sid === 'string' ? sid : null };
  }

  async #isOurs({ header, ...jws }: Jws): Promise<boolean> {
    if (header['typ'] !== 'JWT' || typeof header['kid'] !== 'string') return false;
    const keys = await this.#server.keys.published();
    const key = keys.find(({ kid }) => kid === header['kid']);
    return key !== undefined && key.algorithm === header['alg'] && isFrom(key, { header, ...jws });
  }
}

function parsed(text: string): Jws | null {
  try {
    return parseJws(text);
  } catch (error) {
    if (error instanceof JwsError) return null;
    throw error;
  }
}

function isFrom({ publicJwk }: SigningKey, jws: Jws): boolean {
  try {
    const key = readPublicKey(publicJwk);
    return key !== null && isSignedBy(key, jws);
  } catch (error) {
    if (error instanceof JwkError || error instanceof JwsError) return false;
    throw error;
  }
}
