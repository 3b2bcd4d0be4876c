import type { UserInterface } from '../../contracts/person.ts';
import { parseBearer } from '../../http/bearer.ts';
import type { Accounts } from '../accounts.ts';
import type { CompleteHost } from '../host.ts';
import { scopesHeldBy, scopesInForce, type ScopeCatalog } from './scopes.ts';
import type { DeadToken, Store } from '../store/store.ts';
import { quotedAudience } from './resource-indicators.ts';
import { parseToken } from './token-formats.ts';

/** Looks up access tokens. Never throws for a token that is missing or not usable: the caller decides whether to refuse. */
export interface BearerTokens {
  /** The token of an `Authorization` header (RFC 6750 section 2.1). */
  fromHeader(authorization: string | null): Promise<UsableToken | NoToken>;
  /** The token of this value. */
  lookUp(value: string): Promise<UsableToken | NoToken>;
  /** The token's scopes that are honoured now: where it stands for a person, those whose permission the person holds. */
  honouredScopes(token: UsableToken): Promise<readonly string[]>;
}

/** An access token that is usable here and now. */
export interface UsableToken {
  readonly clientId: string;
  /** The token's scopes that the client and the server still know, whether or not the person may still use them. */
  readonly scopes: readonly string[];
  /** Null for a client-credentials token. */
  readonly user: UserInterface | null;
  /** The person as the outside world knows them; null for a client-credentials token. */
  readonly subject: string | null;
  /** The target it was granted for; null when no audience is configured. */
  readonly audience: string | null;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Why there is no usable token. */
export interface NoToken {
  /** `invalid_token` when one was presented: unknown, expired, revoked, for another target, or of a person who may not sign in. */
  readonly code: 'missing_token' | 'invalid_token';
  /** For the log alone. */
  readonly detail: string;
}

export interface BearerTokensOptions {
  readonly store: Pick<Store, 'findAccessToken'>;
  readonly accounts: Pick<Accounts, 'active'>;
  readonly host: Pick<CompleteHost, 'holdsPermission'>;
  readonly scopes: ScopeCatalog;
  /** The target that tokens must have been granted for; null when none is configured. */
  readonly audience: string | null;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

export function createBearerTokens(options: BearerTokensOptions): BearerTokens {
  const { store, accounts, host, scopes: offered, audience, clock } = options;

  async function lookUp(value: string): Promise<UsableToken | NoToken> {
    const token = await store.findAccessToken(parseToken(value), clock());
    if (typeof token === 'string') return DEAD_TOKENS[token];
    if (token.audience !== audience) {
      const [granted, here] = [quotedAudience(token.audience), quotedAudience(audience)];
      return invalid(`the token was granted for ${granted}, oauth_server:audience is ${here}`);
    }
    const user = token.person === null ? null : await accounts.active(token.person);
    if (token.person !== null && user === null) return INACTIVE_ACCOUNT;
    const { clientId, subject, issuedAt, expiresAt } = token;
    const scopes = scopesInForce(token.scopes, token.clientScopes, offered);
    return { clientId, scopes, user, subject, audience, issuedAt, expiresAt };
  }

  return {
    lookUp,
    async fromHeader(authorization) {
      if (authorization === null) return NO_HEADER;
      const credentials = parseBearer(authorization);
      if (credentials === null) return OTHER_SCHEME;
      return credentials.token === null ? ILL_FORMED : lookUp(credentials.token);
    },
    async honouredScopes({ scopes, user }) {
      return user === null ? scopes : scopesHeldBy(host, offered, scopes, user.reference);
    },
  };
}

function missing(detail: string): NoToken {
  return { code: 'missing_token', detail };
}

function invalid(detail: string): NoToken {
  return { code: 'invalid_token', detail };
}

const NO_HEADER = missing('there is no Authorization header');
const OTHER_SCHEME = missing('the Authorization header is not of the scheme Bearer');
const ILL_FORMED = invalid('the bearer token is not well formed');
const INACTIVE_ACCOUNT = invalid('the account is gone, or may no longer sign in');

const DEAD_TOKENS: Readonly<Record<DeadToken, NoToken>> = {
  unknown: invalid('the token is unknown: never issued here, revoked, or expired long ago'),
  expired: invalid('the token has expired'),
  'client revoked': invalid('the client of the token was revoked'),
  'authorization revoked': invalid('the authorization of the token was revoked'),
};
