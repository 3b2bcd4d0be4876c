import type { Audit } from '../auditing/audit.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import { formParameters } from '../parameters.ts';
import type { OfferedRefreshToken, OfferedToken } from '../store/grant.ts';
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

  /** Whether it is one of this client's. */
  async function revokeRefreshToken(offered: OfferedRefreshToken, clientId: string): Promise<boolean> {
    const refreshToken = await store.findRefreshToken(offered);
    if (refreshToken === null || refreshToken.family.clientId !== clientId) return false;
    const { id: authorization, person } = refreshToken.family;
    if (await store.revokeFamily(authorization, clock())) {
      await audit({ type: 'family_revoked', authorization, clientId, person, reason: 'client' });
    }
    return true;
  }

  async function revokeAccessToken(offered: OfferedToken, clientId: string): Promise<boolean> {
    const revoked = await store.revokeAccessToken(offered, clientId, clock());
    if (revoked === null) return false;
    const { familyId: authorization, person } = revoked;
    await audit({ type: 'access_token_revoked', authorization, clientId, person });
    return true;
  }

  return async (request) => {
    const form = await formParameters(request);
    const { id: clientId } = await authenticateClient(request, form);
    const token = form.require('token');
    // Its form says what it is, token_type_hint nothing more. One of an earlier release has none: both places are looked at.
    const { offered: asRefreshToken, mark } = parseRefreshToken(token);
    const asAccessToken = parseToken(token);
    const isDone =
      (mark !== null && (await revokeRefreshToken(asRefreshToken, clientId))) ||
      (await revokeAccessToken(asAccessToken, clientId));
    if (!isDone && mark === null && asAccessToken.id === null) {
      await revokeRefreshToken(asRefreshToken, clientId);
    }
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: null };
  };
}
