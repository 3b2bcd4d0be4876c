import { jwkThumbprint } from '../keys/jws/dpop-proof.ts';
import type { Client, ClientKeys } from '../store/client.ts';
import type { Server } from '../server.ts';
import type { FurtherValues } from '../store/further-metadata.ts';
import { hasSecret } from './new-client.ts';
import { readKeySet } from './key-sets.ts';

/** All data about a client, except its credentials. Times are in milliseconds since 1970. */
export interface ShownClient {
  /** The stored client, without the hashes of its secrets. */
  readonly client: Omit<Client, 'secretHash' | 'previousSecretHash'>;
  /** The client's status. `blocked` means a revoked document client, which you can unblock. */
  readonly status: 'active' | 'revoked' | 'blocked';
  /**
   * The public keys that this server stores. Empty if the client has no keys or publishes them at a
   * URL.
   */
  readonly keys: readonly DescribedKey[];
  /** Details about the client's secret. Null if the client has no secret. */
  readonly secret: {
    /**
     * When the previous secret stops working, in milliseconds since 1970. Null if there is no
     * previous secret, or if it has already stopped working.
     */
    readonly previousAcceptedUntil: number | null;
  } | null;
  /** The client's scopes that the configuration does not offer. These scopes have no effect. */
  readonly scopesNotOffered: readonly string[];
  /**
   * The reason why an active client cannot get tokens now: its security profile, or a configuration
   * that does not allow its document. Null if there is no such reason, and for a client that is not
   * active.
   */
  readonly refusal: string | null;
  /** The metadata that features add, by field name from RFC 7591. */
  readonly metadata: FurtherValues;
}

/** A client's public key (RFC 7517). */
export interface DescribedKey {
  /**
   * The key's id. Null if the key has no id. The key's owner chose the id, so it can be any string.
   */
  readonly kid: string | null;
  /** `RSA`, `EC` or `OKP`. */
  readonly kty: string;
  /**
   * The only algorithm that the key may be used with. Null if the key may be used with every
   * algorithm for its type.
   */
  readonly alg: string | null;
  /** The SHA-256 thumbprint of the key (RFC 7638), base64url. */
  readonly thumbprint: string;
}

export function describeClient(
  client: Client,
  { scopes, profiles, clock }: Server,
): Omit<ShownClient, 'metadata'> {
  const { secretHash: _, previousSecretHash: __, ...shown } = client;
  const { previousSecretExpiresAt: until, revokedAt } = client;
  return {
    client: shown,
    status:
      revokedAt === null ? 'active' : client.registeredBy === 'document' ? 'blocked' : 'revoked',
    keys: describeKeys(client.keys),
    secret: hasSecret(client)
      ? {
          previousAcceptedUntil:
            revokedAt === null && until !== null && until > clock() ? until : null,
        }
      : null,
    scopesNotOffered: client.scopes.filter((name) => !scopes.has(name)),
    refusal: revokedAt === null ? profiles.refusal(client) : null,
  };
}

export function describeKeys(keys: ClientKeys | null): readonly DescribedKey[] {
  if (keys === null || keys.jwks === null) return [];
  return (readKeySet(JSON.parse(keys.jwks)) ?? []).map((key) => ({
    kid: key.kid,
    kty: String(key.jwk['kty']),
    alg: typeof key.jwk['alg'] === 'string' ? key.jwk['alg'] : null,
    thumbprint: jwkThumbprint(key),
  }));
}
