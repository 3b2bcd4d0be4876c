import type { UserInterface } from '../person.ts';
import type { Claims } from '../tokens/claims.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { Server } from '../server.ts';
import type { DescribesDetails } from '../tokens/details.ts';
import { signIdToken } from '../tokens/id-token.ts';
import { missingKey } from '../keys/algorithms.ts';
import { formatScope, scopesHeldBy } from '../tokens/scopes.ts';
import type { Client } from '../store/client.ts';
import type { Family, NewTokens } from '../store/grant.ts';
import { newAccessToken, newRefreshToken } from '../tokens/token-formats.ts';
import { getTokenType, type KeyBinding } from '../tokens/key-binding.ts';
import type { TokenResponse } from './grant.ts';

/**
 * Throws if this client may not receive a token with these scopes. `thumbprint` identifies the
 * token's key. It is null if the token is not bound.
 */
export type IssuanceCheck = (
  client: Client,
  scopes: readonly string[],
  thumbprint: string | null,
) => void | Promise<void>;

/** The rows for the store and the response for the client. The tokens are not issued yet. */
export interface PreparedTokens {
  readonly tokens: NewTokens;
  readonly response: TokenResponse;
}

interface AnyTokenRequest {
  readonly client: Client;
  readonly scopes: readonly string[];
  /** Null if the tokens are not bound to a key. */
  readonly thumbprint: string | null;
}

export interface ClientTokenRequest extends AnyTokenRequest {
  /** Defaults to the configured API. */
  readonly audience?: string | null;
}

export interface PersonalTokenRequest extends AnyTokenRequest {
  readonly now: number;
  readonly family: Family;
  readonly user: UserInterface;
  /** The nonce from the authorization request. Null if there was none, and for a refresh. */
  readonly nonce: string | null;
  /**
   * A secret in all refresh tokens of the authorization. The server recognizes used tokens by it
   * (decision 8). Null until the first refresh token exists.
   */
  readonly mark: string | null;
  /**
   * The refresh token that stays valid, if the client's security profile keeps it. Null if a new
   * refresh token replaces it.
   */
  readonly again?: string | null;
  /** True if this refresh token, or an earlier one of the authorization, was not bound to a key. */
  readonly isBoundLate?: boolean;
}

export interface IssuingAdditions {
  readonly checks: readonly IssuanceCheck[];
  /** Null if the server does not bind tokens to keys. */
  readonly binding: KeyBinding | null;
  /** Returns the ID token claims that come from an authorization's details. */
  readonly describe: DescribesDetails;
}

/**
 * Creates tokens before the store records them. If signing fails, the code or refresh token in the
 * request stays valid. Throws if a feature's check refuses the tokens.
 */
export class Issuing {
  readonly #server: Server;
  readonly #claims: Claims;
  readonly #checks: readonly IssuanceCheck[];
  readonly #binding: KeyBinding | null;
  readonly #describe: DescribesDetails;

  constructor(server: Server, claims: Claims, { checks, binding, describe }: IssuingAdditions) {
    this.#server = server;
    this.#claims = claims;
    this.#checks = checks;
    this.#binding = binding;
    this.#describe = describe;
  }

  async toClient(grantType: string, request: ClientTokenRequest): Promise<TokenResponse> {
    const { store, audit, clock, measuring, audience } = this.#server;
    const { client, scopes, thumbprint } = request;
    const now = clock();
    await this.requireIssuable(client, scopes, thumbprint);
    const { tokens, response } = this.#prepared(newAccessToken(now), { scopes, thumbprint, now });
    const target = request.audience === undefined ? audience : request.audience;
    await store.accessTokens.issueClientToken(client.id, target, tokens.accessToken, now);
    const about = { clientId: client.id, person: null, authorization: null, scopes };
    await audit({ type: 'tokens_issued', grantType, ...about });
    measuring?.tokenIssued(grantType, 'access_token');
    return response;
  }

  /**
   * Adds an ID token if the scopes include `openid`, and a refresh token if the client may have
   * one.
   */
  async forPerson(request: PersonalTokenRequest): Promise<PreparedTokens> {
    const { client, family, scopes, thumbprint, now } = request;
    await this.requireIssuable(client, scopes, thumbprint);
    const accessToken = newAccessToken(now);
    const withIdToken = scopes.includes('openid')
      ? { id_token: await this.#idToken(request, accessToken.value) }
      : {};
    if (!client.grants.includes('refresh_token')) {
      return this.#prepared(accessToken, request, null, withIdToken);
    }
    const mark = request.mark ?? randomToken();
    const refreshToken = request.again ?? newRefreshToken(family.id, mark);
    const kept = {
      hash: tokenHash(refreshToken),
      markHash: tokenHash(mark),
      expiresAt: now + this.#server.config.refresh_token_ttl * 1000,
      // A confidential client authenticates with each request, so its refresh tokens need no key
      // (RFC 9449 section 5).
      thumbprint: client.public ? thumbprint : null,
      isBoundLate: request.isBoundLate === true,
    };
    return this.#prepared(accessToken, request, kept, {
      refresh_token: refreshToken,
      ...withIdToken,
    });
  }

  /**
   * Repeats the response for tokens that were issued earlier with the same key. `request` contains
   * the current scopes and ID token data.
   */
  async again(
    request: Omit<PersonalTokenRequest, 'mark'>,
    { access_token, token_type, expires_in, refresh_token }: TokenResponse,
  ): Promise<TokenResponse> {
    const { client, scopes, thumbprint } = request;
    await this.requireIssuable(client, scopes, thumbprint);
    const isRefreshable = refresh_token !== undefined && client.grants.includes('refresh_token');
    return {
      access_token,
      token_type,
      expires_in,
      scope: formatScope(scopes),
      ...(isRefreshable ? { refresh_token } : {}),
      ...(scopes.includes('openid')
        ? { id_token: await this.#idToken(request, access_token) }
        : {}),
    };
  }

  /**
   * Throws if a feature's check refuses such tokens. Call this before you mark a code or token as
   * used, if you create its tokens later.
   */
  async requireIssuable(...issued: Parameters<IssuanceCheck>): Promise<void> {
    for (const check of this.#checks) {
      const pending = check(...issued);
      if (pending !== undefined) await pending;
    }
  }

  async #idToken(
    request: Omit<PersonalTokenRequest, 'mark'>,
    accessToken: string,
  ): Promise<string> {
    const { issuer, config, host, keys, scopes: catalog } = this.#server;
    const { client, family, user, nonce, now } = request;
    const algorithm = client.idTokenSignedResponseAlg;
    const key = await keys.active(algorithm);
    if (key === null)
      throw new Error(`There is ${missingKey(algorithm).key} in ${config.key_path}`);
    // Leave out claims of scopes that the person may no longer grant.
    const held = await scopesHeldBy(host, catalog, request.scopes, family.person);
    return signIdToken(key, {
      issuer,
      subject: family.subject,
      clientId: family.clientId,
      issuedAt: now,
      lifetime: config.id_token_ttl,
      nonce,
      accessToken,
      claims: {
        ...(await this.#claims.released(user, held)),
        ...(family.details === undefined ? {} : this.#describe(family.details, 'id_token')),
      },
    });
  }

  #prepared(
    { id, value }: ReturnType<typeof newAccessToken>,
    { scopes, thumbprint, now }: Omit<AnyTokenRequest, 'client'> & { readonly now: number },
    refreshToken: NewTokens['refreshToken'] = null,
    beside: Partial<TokenResponse> = {},
  ): PreparedTokens {
    const { access_token_ttl: lifetime } = this.#server.config;
    const expiresAt = now + lifetime * 1000;
    return {
      tokens: {
        accessToken: { id, hash: tokenHash(value), scopes, expiresAt, thumbprint },
        refreshToken,
      },
      response: {
        access_token: value,
        token_type: getTokenType(this.#binding, thumbprint),
        expires_in: lifetime,
        scope: formatScope(scopes),
        ...beside,
      },
    };
  }
}
