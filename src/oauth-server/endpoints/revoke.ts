import { formParameters } from '../parameters.ts';
import type { Reply } from '../responses.ts';
import type { ServerContext } from '../server-context.ts';
import { offeredRefreshToken } from '../crypto.ts';

/**
 * POST /oauth/revoke (RFC 7009): a refresh token ends everything that descends from its authorization, an access token
 * only itself. An unknown token, or another client's, is answered alike, and nothing happens.
 */
export async function revokeEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const form = await formParameters(request);
  const client = await context.authenticateClient(request, form);
  // token_type_hint only says where to look first; both places are looked at.
  const offered = offeredRefreshToken(form.require('token'));
  await context.store.revokeAccessToken(offered.hash, client.id);
  const refreshToken = await context.store.findRefreshToken(offered);
  if (refreshToken !== null && refreshToken.family.clientId === client.id) {
    const { id: authorization, clientId, person } = refreshToken.family;
    if (await context.store.revokeFamily(authorization, context.clock())) {
      await context.audit({ type: 'family_revoked', authorization, clientId, person, reason: 'client' });
    }
  }
  return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: null };
}
