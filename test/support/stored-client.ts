import type { Client } from '../../packages/portico/src/store/client.ts';

/**
 * Returns a client as the store returns it. An operator registered it at `createdAt`, and it has a
 * secret.
 */
export function storedClient(id: string, createdAt: number, changes: Partial<Client> = {}): Client {
  return {
    id,
    name: 'An application',
    redirectUris: ['https://client.example/cb'],
    scopes: ['openid', 'notes:read'],
    grants: ['authorization_code', 'refresh_token'],
    idTokenSignedResponseAlg: 'RS256',
    applicationType: 'web',
    registeredBy: 'operator',
    public: false,
    keys: null,
    pushesRequests: false,
    dpopBoundAccessTokens: false,
    profile: null,
    secretHash: 'hash',
    secretExpiresAt: null,
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    createdAt,
    usedAt: null,
    revokedAt: null,
    ...changes,
  };
}
