import type { UserInterface } from '../host/contracts.ts';
import { BearerError } from './errors.ts';
import { intersectScopes, scopesHeldBy } from './scopes.ts';
import type { ServerContext } from './server-context.ts';
import { tokenHash } from './tokens.ts';

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
  if (authorization === null || !isBearer(authorization)) throw new BearerError('missing_token');
  return tokenOfValue(context, bearerValue(authorization));
}

/** The access token of this value, looked up. Throws `invalid_token` when it is not usable here, or null. */
export async function tokenOfValue(context: ServerContext, value: string | null): Promise<UsableToken> {
  const token = await usableToken(context, value);
  if (token === null) throw new BearerError('invalid_token');
  return token;
}

export function isBearer(header: string): boolean {
  return /^\s*Bearer(\s|$)/i.test(header);
}

function bearerValue(header: string): string | null {
  return /^\s*Bearer +([A-Za-z0-9\-._~+/]+=*)\s*$/i.exec(header)?.[1] ?? null;
}

/** The token of this value, when it is usable here and now; null for anything else. */
export async function usableToken(context: ServerContext, value: string | null): Promise<UsableToken | null> {
  if (value === null) return null;
  const token = await context.store.findAccessToken(tokenHash(value), context.clock());
  if (token === null || token.audience !== context.audience) return null;
  const scopes = intersectScopes(token.scopes, token.clientScopes).filter((name) => context.scopes.has(name));
  const { clientId, subject, audience, issuedAt, expiresAt } = token;
  const known = { clientId, scopes, subject, audience, issuedAt, expiresAt };
  if (token.person === null) return { ...known, user: null };
  const user = await context.host.loadAccount(token.person);
  return user !== null && user.isActive() ? { ...known, user } : null;
}

/** The scopes that reach: carried by the token and, where it stands for a person, backed by a permission held now. */
export async function scopesThatReach(
  context: ServerContext,
  token: UsableToken,
): Promise<readonly string[]> {
  if (token.user === null) return token.scopes;
  return scopesHeldBy(context.host, context.scopes, token.scopes, token.user.reference);
}
