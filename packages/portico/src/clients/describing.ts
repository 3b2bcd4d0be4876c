import { jwkThumbprint } from '../jws/dpop-proof.ts';
import type { Client, ClientKeys } from '../store/client.ts';
import type { Server } from '../server.ts';
import { hasSecret } from './registration.ts';
import { readKeySet } from './key-sets.ts';

/**
 * Everything that is known about a client, without its credentials. Times are milliseconds since
 * 1970.
 */
export interface ShownClient {
  /** As it is stored, without the hashes of its secrets. */
  readonly client: Omit<Client, 'secretHash' | 'previousSecretHash'>;
  /** Whether it may be used: a document that is revoked is blocked, and can be unblocked. */
  readonly status: 'active' | 'revoked' | 'blocked';
  /**
   * The public keys that are kept here; empty for a client without any, and for one that publishes
   * them itself.
   */
  readonly keys: readonly DescribedKey[];
  /** Null for a client without a secret. */
  readonly secret: {
    /**
     * Until when the secret before the last rotation is accepted; null without such a secret, and
     * when it has ended.
     */
    readonly previousAcceptedUntil: number | null;
  } | null;
  /** Scopes of the client that the configuration does not offer now. They have no effect. */
  readonly scopesNotOffered: readonly string[];
  /** Why it is given nothing now, such as a profile that it does not meet; null for nothing. */
  readonly refusal: string | null;
}

/** A public key of a client (RFC 7517). */
export interface DescribedKey {
  /** What its owner named it; null for no name. It may be any text. */
  readonly kid: string | null;
  /** `RSA`, `EC` or `OKP`. */
  readonly kty: string;
  /** The only algorithm that it is for; null for all that keys of its type can sign with. */
  readonly alg: string | null;
  /** The thumbprint of RFC 7638: SHA-256, as base64url. */
  readonly thumbprint: string;
}

export function describeClient(client: Client, { scopes, profiles, clock }: Server): ShownClient {
  const { secretHash: _, previousSecretHash: __, ...shown } = client;
  const { previousSecretExpiresAt: until, revokedAt } = client;
  return {
    client: shown,
    status: revokedAt === null ? 'active' : client.registeredBy === 'document' ? 'blocked' : 'revoked',
    keys: describeKeys(client.keys),
    secret: hasSecret(client)
      ? { previousAcceptedUntil: revokedAt === null && until !== null && until > clock() ? until : null }
      : null,
    scopesNotOffered: client.scopes.filter((name) => !scopes.has(name)),
    refusal: revokedAt === null ? profiles.refusal(client) : null,
  };
}

/** Those that are kept here. */
export function describeKeys(keys: ClientKeys | null): readonly DescribedKey[] {
  if (keys === null || keys.jwks === null) return [];
  return (readKeySet(JSON.parse(keys.jwks)) ?? []).map((key) => ({
    kid: key.kid,
    kty: String(key.jwk['kty']),
    alg: typeof key.jwk['alg'] === 'string' ? key.jwk['alg'] : null,
    thumbprint: jwkThumbprint(key),
  }));
}
