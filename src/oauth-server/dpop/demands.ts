import { DpopError, OAuthError } from '../errors.ts';
import type { Client } from '../store/client.ts';

/** `oauth_server:dpop`. */
export type DpopMode = 'off' | 'accept' | 'require';

/**
 * Throws when a token with these scopes may not be issued to this client as it would be: bound to the key of this thumbprint, or to none
 * (null), which the server, the client or a scope may rule out.
 */
export type RequireBinding = (
  client: Pick<Client, 'dpopBoundAccessTokens'>,
  scopes: readonly string[],
  thumbprint: string | null,
) => void;

/** What contradicts itself: demands that nobody could meet, and nonces that nobody would be asked for. */
export function dpopProblems({
  dpop = 'off',
  dpop_nonces: nonces = false,
  scopes,
}: {
  readonly dpop?: DpopMode | undefined;
  readonly dpop_nonces?: boolean | undefined;
  readonly scopes: Readonly<Record<string, string | { readonly dpop?: boolean | undefined }>>;
}) {
  if (dpop !== 'off') return [];
  const needed = 'needs oauth_server:dpop, which is off; set it to accept or require';
  const bound = Object.entries(scopes).filter(
    ([, scope]) => typeof scope === 'object' && scope.dpop === true,
  );
  return [
    ...bound.map(([name]) => ({ key: `oauth_server:scopes:${name}:dpop`, message: needed })),
    ...(nonces ? [{ key: 'oauth_server:dpop_nonces', message: needed }] : []),
  ];
}

/** `scopes` are all that the server offers. */
export function createRequireBinding(
  mode: DpopMode,
  scopes: Iterable<{ readonly name: string; readonly dpop: boolean }>,
): RequireBinding {
  const boundScopes = new Set([...scopes].filter(({ dpop }) => dpop).map(({ name }) => name));

  function demand(client: Pick<Client, 'dpopBoundAccessTokens'>, named: readonly string[]): string | null {
    if (client.dpopBoundAccessTokens) return 'the client demands it';
    if (mode === 'require') return 'oauth_server:dpop is require';
    const scope = named.find((name) => boundScopes.has(name));
    return scope === undefined ? null : `the scope ${scope} demands it`;
  }

  return (client, named, thumbprint) => {
    if (thumbprint !== null) return;
    const reason = demand(client, named);
    if (reason === null) return;
    // Never less than what was demanded: a server that was switched off since issues nothing in its place.
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
