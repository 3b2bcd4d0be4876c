import type { UserInterface } from '../../contracts/person.ts';
import type { Claims } from '../tokens/claims.ts';
import type { OAuthServerConfig } from '../config.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import type { CompleteHost } from '../host.ts';
import { signIdToken } from '../tokens/id-token.ts';
import { missingKey, type KeyRing } from '../keys.ts';
import { formatScope, scopesHeldBy, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, Family, NewTokens } from '../store/store.ts';
import { newAccessToken, newRefreshToken } from '../tokens/token-formats.ts';
import type { TokenResponse } from './grant.ts';

/** Tokens that are made but not yet issued: what the store is to keep, and the response to the client. */
export interface PreparedTokens {
  readonly tokens: NewTokens;
  readonly response: TokenResponse;
}

/** Makes tokens before the store is asked to issue them: should signing fail, nothing was spent. */
export interface Issuing {
  /** For the client itself. */
  forClient(scopes: readonly string[], now: number): PreparedTokens;
  /** For a person: with an ID token if `openid` is among the scopes, and a refresh token if the client may use one. */
  forPerson(request: PersonalTokenRequest): Promise<PreparedTokens>;
  /** The response with tokens that were issued before, as it is now: its scopes and ID token are those of `request`. */
  again(request: PersonalTokenRequest, issued: TokenResponse): Promise<TokenResponse>;
}

export interface PersonalTokenRequest {
  readonly client: Client;
  readonly family: Family;
  readonly user: UserInterface;
  readonly scopes: readonly string[];
  /** Of the authorization request; null after a refresh. */
  readonly nonce: string | null;
  /** The mark that all refresh tokens of the family share; null for its first, and when an earlier release issued the one before. */
  readonly mark: string | null;
  readonly now: number;
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
}

export function createIssuing(options: IssuingOptions): Issuing {
  const { issuer, config, scopes: catalog, host, keys, claims } = options;

  async function idToken(request: PersonalTokenRequest, accessToken: string): Promise<string> {
    const { client, family, user, nonce, now } = request;
    const algorithm = client.idTokenSignedResponseAlg;
    const key = await keys.active(algorithm);
    if (key === null) throw new Error(`There is ${missingKey(algorithm).key} in ${config.key_path}`);
    // A scope whose permission the person has lost since releases nothing.
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
    scopes: readonly string[],
    now: number,
    refreshToken: NewTokens['refreshToken'] = null,
    beside: Pick<TokenResponse, 'refresh_token' | 'id_token'> = {},
  ): PreparedTokens {
    const expiresAt = now + config.access_token_ttl * 1000;
    return {
      tokens: { accessToken: { id, hash: tokenHash(value), scopes, expiresAt }, refreshToken },
      response: {
        access_token: value,
        token_type: 'Bearer',
        expires_in: config.access_token_ttl,
        scope: formatScope(scopes),
        ...beside,
      },
    };
  }

  return {
    forClient: (scopes, now) => prepared(newAccessToken(now), scopes, now),
    async forPerson(request) {
      const { client, family, scopes, now } = request;
      const accessToken = newAccessToken(now);
      const withIdToken = scopes.includes('openid')
        ? { id_token: await idToken(request, accessToken.value) }
        : {};
      if (!client.grants.includes('refresh_token')) {
        return prepared(accessToken, scopes, now, null, withIdToken);
      }
      const mark = request.mark ?? randomToken();
      const refreshToken = newRefreshToken(family.id, mark);
      const kept = {
        hash: tokenHash(refreshToken),
        markHash: tokenHash(mark),
        expiresAt: now + config.refresh_token_ttl * 1000,
      };
      return prepared(accessToken, scopes, now, kept, { refresh_token: refreshToken, ...withIdToken });
    },
    async again(request, { access_token, token_type, expires_in, refresh_token }) {
      const { client, scopes } = request;
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
