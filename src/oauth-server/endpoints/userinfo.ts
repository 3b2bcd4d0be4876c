import { presentedToken, scopesThatReach, tokenOfValue, type UsableToken } from '../bearer.ts';
import { BearerError, OAuthError } from '../errors.ts';
import { formParameters, isForm } from '../parameters.ts';
import { noteClient } from '../refusals.ts';
import { jsonReply, type Reply } from '../responses.ts';
import type { ServerContext } from '../server-context.ts';

/** GET and POST /oauth/userinfo (OpenID Connect Core section 5.3): what the token's scopes release about its person. */
export async function userinfoEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const token = await sentToken(context, request);
  noteClient(request, token.clientId);
  if (token.user === null || token.subject === null || !token.scopes.includes('openid')) {
    const detail = token.user === null ? 'the token stands for no person' : 'the token has no scope openid';
    throw new BearerError('insufficient_scope', 'openid', { detail });
  }
  const scopes = await scopesThatReach(context, token);
  const claims = await context.claims(token.user, scopes);
  return jsonReply({ ...claims, sub: token.subject });
}

/**
 * From the header or from a form body (RFC 6750 sections 2.1 and 2.2), never from both. The body is read before anything is
 * asked of the store: a caller may be slow.
 */
async function sentToken(context: ServerContext, request: Request): Promise<UsableToken> {
  const authorization = request.headers.get('authorization');
  const value = request.method === 'POST' && isForm(request) ? await tokenInForm(request) : undefined;
  if (value === undefined) return presentedToken(context, authorization);
  if (authorization !== null) {
    const detail = 'a token in the form beside an Authorization header';
    throw new BearerError('invalid_request', null, { detail });
  }
  return tokenOfValue(context, value);
}

async function tokenInForm(request: Request): Promise<string | undefined> {
  try {
    return (await formParameters(request)).get('access_token');
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new BearerError('invalid_request', null, { detail: error.detail ?? error.message });
  }
}
