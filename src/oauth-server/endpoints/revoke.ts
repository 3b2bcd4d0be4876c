import type { Audit } from '../auditing/audit.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import { formParameters } from '../parameters.ts';
import type { Store } from '../store/store.ts';
import { parseRefreshToken, parseToken } from '../tokens/token-formats.ts';
import type { Handler } from './endpoint.ts';

export interface RevokeEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly store: Pick<Store, 'revokeAccessToken' | 'findRefreshToken' | 'revokeFamily'>;
  readonly audit: Audit;
  readonly clock: () => number;
}

/**
 * POST /oauth/revoke (RFC 7009): a refresh token ends everything that descends from its authorization, an access token
 * only itself. For an unknown token, or another client's, nothing happens, and the answer is the same.
 */
export function createRevokeEndpoint(options: RevokeEndpointOptions): Handler {
  const { authenticateClient, store, audit, clock } = options;
  return async (request) => {
    const form = await formParameters(request);
    const client = await authenticateClient(request, form);
    // token_type_hint only says where to look first; both places are looked at.
    const token = form.require('token');
    await store.revokeAccessToken(parseToken(token), client.id);
    const refreshToken = await store.findRefreshToken(parseRefreshToken(token).offered);
    if (refreshToken !== null && refreshToken.family.clientId === client.id) {
      const { id: authorization, clientId, person } = refreshToken.family;
      if (await store.revokeFamily(authorization, clock())) {
        await audit({ type: 'family_revoked', authorization, clientId, person, reason: 'client' });
      }
    }
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: null };
  };
}
