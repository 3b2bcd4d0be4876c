import type { Client, ClientMetadata, RegisteredBy } from '../store/client.ts';

interface Beginning {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly secretHash: string | null;
  /** In milliseconds since 1970. If missing or null, the secret never expires. */
  readonly secretExpiresAt?: number | null;
  readonly createdAt: number;
}

/**
 * Returns a new client with at most one secret. The client is not revoked and has never been used.
 */
export function newClient(described: ClientMetadata, begun: Beginning): Client {
  const later = {
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    usedAt: null,
    revokedAt: null,
  };
  return { ...described, secretExpiresAt: null, ...begun, ...later };
}

export function hasSecret({ public: isPublic, keys }: ClientMetadata): boolean {
  return !isPublic && keys === null;
}
