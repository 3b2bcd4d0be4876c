import type { Audit } from '../auditing/audit.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import { formParameters } from '../parameters.ts';
import type { Store } from '../store/store.ts';
import { parseRefreshToken, parseToken } from '../tokens/token-formats.ts';
import type { Handler } from './endpoint.ts';

export interface RevokeEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly store: Store;
  readonly audit: Audit;
  readonly clock: () => number;
}

/**
 * POST /oauth/revoke (RFC 7009): a refresh token ends everything that came from its authorization,
 * an access token only itself. For an unknown token, or another client's, nothing happens, and the
 * answer is the same.
 */
export function createRevokeEndpoint(options: RevokeEndpointOptions): Handler {
  const { authenticateClient, store, audit, clock } = options;

  /** Whether it was a living token of this client. */
  async function revokeAccessToken(token: string, clientId: string): Promise<boolean> {
    const revoked = await store.accessTokens.revokeAccessToken(parseToken(token), clientId, clock());
    if (revoked === null) return false;
    const { familyId: authorization, person } = revoked;
    await audit({ type: 'access_token_revoked', authorization, clientId, person });
    return true;
  }

  async function revokeRefreshToken(token: string, clientId: string): Promise<void> {
    const refreshToken = await store.refreshTokens.findRefreshToken(parseRefreshToken(token).offered);
    if (refreshToken === null || refreshToken.family.clientId !== clientId) return;
    const { id: authorization, person } = refreshToken.family;
    if (await store.authorizations.revokeFamily(authorization, clock())) {
      await audit({ type: 'family_revoked', authorization, clientId, person, reason: 'client' });
    }
  }

  return async (request) => {
    const form = await formParameters(request);
    const { id: clientId } = await authenticateClient(request, form);
    const token = form.require('token');
    // token_type_hint only says where to look first; both places are checked.
    if (!(await revokeAccessToken(token, clientId))) await revokeRefreshToken(token, clientId);
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: null };
  };
}
