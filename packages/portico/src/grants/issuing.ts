import type { UserInterface } from '../contracts/person.ts';
import type { Claims } from '../tokens/claims.ts';
import type { OAuthServerConfig } from '../config.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { CompleteHost } from '../host.ts';
import { signIdToken } from '../tokens/id-token.ts';
import { missingKey } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { formatScope, scopesHeldBy, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client } from '../store/client.ts';
import type { Family, NewTokens } from '../store/grant.ts';
import { newAccessToken, newRefreshToken } from '../tokens/token-formats.ts';
import { tokenTypeOf, type KeyBinding } from '../tokens/key-binding.ts';
import type { TokenResponse } from './grant.ts';

/**
 * Throws if this client may not get a token with these scopes: bound to the key of this thumbprint,
 * or to none (null).
 */
export type IssuanceCheck = (client: Client, scopes: readonly string[], thumbprint: string | null) => void;

/**
 * Tokens that are made but not yet issued: the rows for the store, and the response to the client.
 */
export interface PreparedTokens {
  readonly tokens: NewTokens;
  readonly response: TokenResponse;
}

/**
 * Makes tokens before the store issues them, so that nothing is spent if signing fails. Also throws
 * if a check refuses them: there is no other way to tokens.
 */
export interface Issuing {
  /** For the client itself. */
  forClient(request: ClientTokenRequest): PreparedTokens;
  /**
   * For a person: with an ID token if `openid` is among the scopes, and with a refresh token if the
   * client may use one.
   */
  forPerson(request: PersonalTokenRequest): Promise<PreparedTokens>;
  /**
   * The response with earlier issued tokens, for the same key and with current data: its scopes and
   * ID token are those of `request`.
   */
  again(request: Omit<PersonalTokenRequest, 'mark'>, issued: TokenResponse): Promise<TokenResponse>;
}

export interface ClientTokenRequest {
  readonly client: Client;
  readonly scopes: readonly string[];
  /** The key that the tokens are bound to, or null. */
  readonly thumbprint: string | null;
  readonly now: number;
}

export interface PersonalTokenRequest extends ClientTokenRequest {
  readonly family: Family;
  readonly user: UserInterface;
  /** From the authorization request; null after a refresh. */
  readonly nonce: string | null;
  /** The mark that all refresh tokens of the family share; null for the first one. */
  readonly mark: string | null;
  /**
   * The used refresh token, if it stays the current one: the profile of its client has no rotation.
   */
  readonly again?: string | null;
  /** Whether this or an earlier refresh token worked without a key. */
  readonly isBoundLate?: boolean;
}

export interface IssuingOptions {
  readonly issuer: string;
  readonly config: Pick<
    OAuthServerConfig,
    'access_token_ttl' | 'refresh_token_ttl' | 'id_token_ttl' | 'key_path'
  >;
  readonly scopes: ScopeCatalog;
  readonly host: Pick<CompleteHost, 'holdsPermission'>;
  readonly keys: Pick<KeyRing, 'active'>;
  readonly claims: Claims;
  readonly checks: readonly IssuanceCheck[];
  /** Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
}

export function createIssuing(options: IssuingOptions): Issuing {
  const { issuer, config, scopes: catalog, host, keys, claims, checks, binding } = options;

  const requireIssuable: IssuanceCheck = (...issued) => {
    for (const check of checks) check(...issued);
  };

  async function idToken(request: Omit<PersonalTokenRequest, 'mark'>, accessToken: string): Promise<string> {
    const { client, family, user, nonce, now } = request;
    const algorithm = client.idTokenSignedResponseAlg;
    const key = await keys.active(algorithm);
    if (key === null) throw new Error(`There is ${missingKey(algorithm).key} in ${config.key_path}`);
    // A scope whose permission the person has lost releases nothing.
    const held = await scopesHeldBy(host, catalog, request.scopes, family.person);
    return signIdToken(key, {
      issuer,
      subject: family.subject,
      clientId: family.clientId,
      issuedAt: now,
      lifetime: config.id_token_ttl,
      nonce,
      accessToken,
      claims: await claims(user, held),
    });
  }

  function prepared(
    { id, value }: ReturnType<typeof newAccessToken>,
    { scopes, thumbprint, now }: Omit<ClientTokenRequest, 'client'>,
    refreshToken: NewTokens['refreshToken'] = null,
    beside: Pick<TokenResponse, 'refresh_token' | 'id_token'> = {},
  ): PreparedTokens {
    const expiresAt = now + config.access_token_ttl * 1000;
    return {
      tokens: {
        accessToken: { id, hash: tokenHash(value), scopes, expiresAt, thumbprint },
        refreshToken,
      },
      response: {
        access_token: value,
        token_type: tokenTypeOf(binding, thumbprint),
        expires_in: config.access_token_ttl,
        scope: formatScope(scopes),
        ...beside,
      },
    };
  }

  return {
    forClient(request) {
      const { client, scopes, thumbprint, now } = request;
      requireIssuable(client, scopes, thumbprint);
      return prepared(newAccessToken(now), request);
    },
    async forPerson(request) {
      const { client, family, scopes, thumbprint, now } = request;
      requireIssuable(client, scopes, thumbprint);
      const accessToken = newAccessToken(now);
      const withIdToken = scopes.includes('openid')
        ? { id_token: await idToken(request, accessToken.value) }
        : {};
      if (!client.grants.includes('refresh_token')) {
        return prepared(accessToken, request, null, withIdToken);
      }
      const mark = request.mark ?? randomToken();
      const refreshToken = request.again ?? newRefreshToken(family.id, mark);
      const kept = {
        hash: tokenHash(refreshToken),
        markHash: tokenHash(mark),
        expiresAt: now + config.refresh_token_ttl * 1000,
        // A confidential client authenticates itself (RFC 9449 section 5).
        thumbprint: client.public ? thumbprint : null,
        isBoundLate: request.isBoundLate === true,
      };
      return prepared(accessToken, request, kept, { refresh_token: refreshToken, ...withIdToken });
    },
    async again(request, { access_token, token_type, expires_in, refresh_token }) {
      const { client, scopes, thumbprint } = request;
      requireIssuable(client, scopes, thumbprint);
      const isRefreshable = refresh_token !== undefined && client.grants.includes('refresh_token');
      return {
        access_token,
        token_type,
        expires_in,
        scope: formatScope(scopes),
        ...(isRefreshable ? { refresh_token } : {}),
        ...(scopes.includes('openid') ? { id_token: await idToken(request, access_token) } : {}),
      };
    },
  };
}
