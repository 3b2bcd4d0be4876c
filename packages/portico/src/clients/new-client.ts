import type { Client, ClientMetadata, RegisteredBy } from '../store/client.ts';

/** The properties of a new client that are not metadata. */
interface Beginning {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
  readonly secretHash: string | null;
  /** Milliseconds since 1970. If missing or null, the secret never expires. */
  readonly secretExpiresAt?: number | null;
  readonly createdAt: number;
}

/** Returns a new client. It was never used, is not revoked, and has at most one secret. */
export function newClient(described: ClientMetadata, begun: Beginning): Client {
  const later = {
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    usedAt: null,
    revokedAt: null,
  };
  return { ...described, secretExpiresAt: null, ...begun, ...later };
}

/** Whether the client authenticates with a secret. */
export function hasSecret({ public: isPublic, keys }: ClientMetadata): boolean {
  return !isPublic && keys === null;
}
