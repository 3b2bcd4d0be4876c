import type { ClientAuthentication } from '../clients/authentication.ts';
import { formParameters } from '../parameters.ts';
import type { Reply } from './replies/responses.ts';
import type { Server } from '../server.ts';
import { parseRefreshToken, parseToken } from '../tokens/token-formats.ts';

/**
 * Handles POST /oauth/revoke (RFC 7009). A refresh token ends its whole authorization. An access
 * token ends alone. An unknown token, or one of another client, ends nothing and gets the same
 * response.
 */
export class RevokeEndpoint {
  readonly #server: Server;
  readonly #authentication: ClientAuthentication;

  constructor(server: Server, authentication: ClientAuthentication) {
    this.#server = server;
    this.#authentication = authentication;
  }

  readonly answer = async (request: Request): Promise<Reply> => {
    const form = await formParameters(request);
    const { id: clientId } = await this.#authentication.authenticate(request, form);
    const token = form.require('token');
    // Ignore `token_type_hint`. The token can be of either kind.
    if (!(await this.#revokeAccessToken(token, clientId)))
      await this.#revokeRefreshToken(token, clientId);
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: null };
  };

  /** Returns true if the token was a valid access token of this client. */
  async #revokeAccessToken(token: string, clientId: string): Promise<boolean> {
    const { store, audit, clock } = this.#server;
    const revoked = await store.accessTokens.revokeAccessToken(
      parseToken(token),
      clientId,
      clock(),
    );
    if (revoked === null) return false;
    const { familyId: authorization, person } = revoked;
    await audit({ type: 'access_token_revoked', authorization, clientId, person });
    return true;
  }

  async #revokeRefreshToken(token: string, clientId: string): Promise<void> {
    const { store, audit, clock } = this.#server;
    const refreshToken = await store.refreshTokens.findRefreshToken(
      parseRefreshToken(token).offered,
    );
    if (refreshToken === null || refreshToken.family.clientId !== clientId) return;
    const { id: authorization, person } = refreshToken.family;
    if (await store.authorizations.revokeFamily(authorization, clock())) {
      await audit({ type: 'family_revoked', authorization, clientId, person, reason: 'client' });
    }
  }
}
