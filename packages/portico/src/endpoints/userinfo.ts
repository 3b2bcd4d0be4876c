import type { BearerTokens, NoToken, UsableToken } from '../resource/bearer.ts';
import type { Claims } from '../tokens/claims.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import { bindingRefusal, type BindingOffer } from '../http/challenges.ts';
import { BearerError, OAuthError } from '../errors.ts';
import { formParameters, isForm } from '../parameters.ts';
import { noteClient } from '../refusals.ts';
import { jsonReply, withFields, type Reply } from './replies/responses.ts';

/** Returns the claims that the token's scopes release (OpenID Connect Core section 5.3). */
export class UserinfoEndpoint {
  readonly #bearerTokens: BearerTokens;
  readonly #claims: Claims;
  readonly #binding: KeyBinding | null;

  constructor(bearerTokens: BearerTokens, claims: Claims, binding: KeyBinding | null) {
    this.#bearerTokens = bearerTokens;
    this.#claims = claims;
    this.#binding = binding;
  }

  get #offer(): BindingOffer | null {
    return this.#binding?.offer ?? null;
  }

  readonly answer = async (request: Request): Promise<Reply> => {
    const token = await this.#sentToken(request);
    if ('code' in token) {
      const { code, detail, message, of, proof } = token;
      const { clientId = null, authorization = null } = of ?? {};
      if (clientId !== null) noteClient(request, clientId);
      const binding = bindingRefusal(this.#offer, proof);
      throw new BearerError(code, null, {
        ...(message === undefined ? {} : { message }),
        detail,
        binding,
        authorization,
      });
    }
    const { clientId, authorization } = token;
    noteClient(request, clientId);
    if (token.user === null || token.subject === null || !token.scopes.includes('openid')) {
      const detail =
        token.user === null
          ? 'the access token was issued to the client itself, not for a person'
          : 'the access token does not have the scope openid';
      const proof = token.thumbprint === null ? undefined : { answer: null };
      const about = { detail, binding: bindingRefusal(this.#offer, proof), authorization };
      throw new BearerError('insufficient_scope', 'openid', about);
    }
    const scopes = await this.#bearerTokens.honouredScopes(token);
    const claims = { ...(await this.#claims.released(token.user, scopes)), sub: token.subject };
    const isBound = this.#binding !== null && token.thumbprint !== null;
    return withFields(jsonReply(claims), isBound ? await this.#binding.answerFields() : null);
  };

  /**
   * Looks up the token from the header or from a form body (RFC 6750 sections 2.1 and 2.2). Throws
   * if the request uses both. Reads the body before the store: the caller may send the body slowly.
   */
  async #sentToken(request: Request): Promise<UsableToken | NoToken> {
    const authorization = request.headers.get('authorization');
    const value =
      request.method === 'POST' && isForm(request) ? await this.#tokenInForm(request) : undefined;
    if (value === undefined) return this.#bearerTokens.fromHeader(authorization, () => request);
    if (authorization !== null)
      throw this.#invalidRequest(
        'the request has an access token in the form and also an Authorization header',
      );
    return this.#bearerTokens.lookUp(value, 'Bearer');
  }

  async #tokenInForm(request: Request): Promise<string | undefined> {
    try {
      return (await formParameters(request)).get('access_token');
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      throw this.#invalidRequest(error.detail ?? error.message);
    }
  }

  #invalidRequest(detail: string): BearerError {
    const binding = bindingRefusal(this.#offer, undefined);
    return new BearerError('invalid_request', null, { detail, binding });
  }
}
