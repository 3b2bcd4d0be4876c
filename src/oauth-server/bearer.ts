import type { UserInterface } from '../contracts/person.ts';
import { parseBearer } from '../http/bearer.ts';
import { BearerError } from './errors.ts';
import { intersectScopes, scopesHeldBy } from './scopes.ts';
import type { ServerContext } from './server-context.ts';
import type { DeadToken } from './store/store.ts';
import { targetName } from './tokens/resource-indicators.ts';
import { tokenHash } from './crypto.ts';

/** A presented access token that is usable here and now. */
export interface UsableToken {
  readonly clientId: string;
  /** The token's scopes that the client and the server still know, whether or not the person may still use them. */
  readonly scopes: readonly string[];
  /** Null for a client-credentials token. */
  readonly user: UserInterface | null;
  /** The person as the outside world knows it; null for a client-credentials token. */
  readonly subject: string | null;
  /** The target it was granted for; null when no audience is configured. */
  readonly audience: string | null;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * The access token in an `Authorization` header (RFC 6750 section 2.1), looked up. Throws `missing_token` when no bearer
 * token was presented, and `invalid_token` when it is not usable here: unknown, expired, revoked, granted for another
 * target, or of a person who can no longer sign in.
 */
export async function presentedToken(
  context: ServerContext,
  authorization: string | null,
): Promise<UsableToken> {
  if (authorization === null) throw missingToken('there is no Authorization header');
  const presented = parseBearer(authorization);
  if (presented === null) throw missingToken('the Authorization header is not of the scheme Bearer');
  return tokenOfValue(context, presented.token);
}

/** The access token of this value, looked up. Throws `invalid_token` when it is not usable here, or null. */
export async function tokenOfValue(context: ServerContext, value: string | null): Promise<UsableToken> {
  const token = value === null ? 'the bearer token is not well formed' : await usableToken(context, value);
  if (typeof token === 'string') throw new BearerError('invalid_token', null, { detail: token });
  return token;
}

function missingToken(detail: string): BearerError {
  return new BearerError('missing_token', null, { detail });
}

/** The token of this value, when it is usable here and now; for anything else why it is not, which is for the log. */
export async function usableToken(context: ServerContext, value: string): Promise<UsableToken | string> {
  const token = await context.store.findAccessToken(tokenHash(value), context.clock());
  if (typeof token === 'string') return DEAD_TOKENS[token];
  if (token.audience !== context.audience) {
    const [granted, here] = [targetName(token.audience), targetName(context.audience)];
    return `the token was granted for ${granted}, oauth_server:audience is ${here}`;
  }
  const scopes = intersectScopes(token.scopes, token.clientScopes).filter((name) => context.scopes.has(name));
  const { clientId, subject, audience, issuedAt, expiresAt } = token;
  const known = { clientId, scopes, subject, audience, issuedAt, expiresAt };
  if (token.person === null) return { ...known, user: null };
  const user = await context.host.loadAccount(token.person);
  if (user === null || !user.isActive()) return 'the account is gone, or may no longer sign in';
  return { ...known, user };
}

const DEAD_TOKENS: Readonly<Record<DeadToken, string>> = {
  unknown: 'the token is unknown: never issued here, revoked, or expired long ago',
  expired: 'the token has expired',
  'client revoked': 'the client of the token was revoked',
  'authorization revoked': 'the authorization of the token was revoked',
};

/** The scopes that reach: carried by the token and, where it stands for a person, backed by a permission held now. */
export async function scopesThatReach(
  context: ServerContext,
  token: UsableToken,
): Promise<readonly string[]> {
  if (token.user === null) return token.scopes;
  return scopesHeldBy(context.host, context.scopes, token.scopes, token.user.reference);
}
