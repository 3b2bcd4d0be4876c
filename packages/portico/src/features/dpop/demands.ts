import { OAuthError } from '../../errors.ts';
import type { Client } from '../../store/client.ts';
import type { DpopConfig } from './config.ts';
import { DpopError } from './errors.ts';

/** `oauth_server:dpop`. */
export type DpopMode = NonNullable<DpopConfig['dpop']>;

/** `oauth_server:scopes`, for scopes that may require a bound token. */
export type BindableScopes = Readonly<Record<string, string | { readonly dpop?: boolean | undefined }>>;

/**
 * Throws if this client may not get a token with these scopes: bound to the key of this thumbprint,
 * or to none (null). The server, the client or a scope may rule that out.
 */
export type RequireBinding = (
  client: Pick<Client, 'dpopBoundAccessTokens'>,
  scopes: readonly string[],
  thumbprint: string | null,
) => void;

/** The scopes that require a bound token. */
export function boundScopes(scopes: BindableScopes): ReadonlySet<string> {
  const bound = Object.entries(scopes).filter(
    ([, scope]) => typeof scope === 'object' && scope.dpop === true,
  );
  return new Set(bound.map(([name]) => name));
}

/**
 * Finds settings that contradict each other: requirements that no client could meet, and nonces
 * that the server would never ask for.
 */
export function dpopProblems({
  dpop = 'off',
  dpop_nonces: nonces = false,
  scopes,
}: DpopConfig & { readonly scopes: BindableScopes }) {
  if (dpop !== 'off') return [];
  const needed = 'needs oauth_server:dpop, which is off; set it to accept or require';
  return [
    ...[...boundScopes(scopes)].map((name) => ({ key: `oauth_server:scopes:${name}:dpop`, message: needed })),
    ...(nonces ? [{ key: 'oauth_server:dpop_nonces', message: needed }] : []),
  ];
}

export function createRequireBinding(mode: DpopMode, bound: ReadonlySet<string>): RequireBinding {
  function demand(client: Pick<Client, 'dpopBoundAccessTokens'>, named: readonly string[]): string | null {
    if (client.dpopBoundAccessTokens) return 'the client demands it';
    if (mode === 'require') return 'oauth_server:dpop is require';
    const scope = named.find((name) => bound.has(name));
    return scope === undefined ? null : `the scope ${scope} demands it`;
  }

  return (client, named, thumbprint) => {
    // A key that another feature binds tokens to is not one of DPoP.
    if (thumbprint !== null && mode !== 'off') return;
    const reason = demand(client, named);
    if (reason === null) return;
    // Never less than the requirement: a server that was switched off since then issues nothing
    // instead.
    if (mode === 'off') {
      throw new OAuthError(
        'unauthorized_client',
        'The tokens of this client have to be bound by DPoP, which this server does not offer.',
        `no token is issued that is bound to no key: ${reason}, and oauth_server:dpop is off`,
      );
    }
    throw new DpopError('invalid_dpop_proof', `no proof came, and no token is issued without one: ${reason}`);
  };
}
