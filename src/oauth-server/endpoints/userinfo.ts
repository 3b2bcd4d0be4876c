import { presentedToken, scopesThatReach } from '../bearer.ts';
import { claimsAbout } from '../claims.ts';
import { BearerError } from '../errors.ts';
import { jsonReply, type Reply } from '../responses.ts';
import type { ServerContext } from '../server-context.ts';

/** GET and POST /oauth/userinfo (OpenID Connect Core section 5.3): what the token's scopes release about its person. */
export async function userinfoEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const token = await presentedToken(context, request.headers.get('authorization'));
  if (token.user === null || token.subject === null || !token.scopes.includes('openid')) {
    throw new BearerError('insufficient_scope', 'openid');
  }
  const scopes = await scopesThatReach(context, token);
  const claims = await claimsAbout(token.user, scopes, context.config.claims);
  return jsonReply({ ...claims, sub: token.subject });
}
