import { OAuthError } from '../../errors.ts';
import type { ClientDemands } from '../../store/client-demands.ts';
import type { DpopConfig } from './config.ts';
import { DpopError } from './errors.ts';

/** The values of `oauth_server:dpop`. */
export type DpopMode = NonNullable<DpopConfig['dpop']>;

/** The scopes of `oauth_server:scopes`. Each one can require a bound token. */
export type BindableScopes = Readonly<
  Record<string, string | { readonly dpop?: boolean | undefined }>
>;

export function boundScopes(scopes: BindableScopes): ReadonlySet<string> {
  const bound = Object.entries(scopes).filter(
    ([, scope]) => typeof scope === 'object' && scope.dpop === true,
  );
  return new Set(bound.map(([name]) => name));
}

/** If DPoP is off, returns a problem for each setting that needs it. */
export function dpopProblems({
  dpop = 'off',
  dpop_nonces: nonces = false,
  scopes,
}: DpopConfig & { readonly scopes: BindableScopes }) {
  if (dpop !== 'off') return [];
  const needed = 'needs oauth_server:dpop; set oauth_server:dpop to "accept" or "require"';
  return [
    ...[...boundScopes(scopes)].map((name) => ({
      key: `oauth_server:scopes:${name}:dpop`,
      message: needed,
    })),
    ...(nonces ? [{ key: 'oauth_server:dpop_nonces', message: needed }] : []),
  ];
}

/** The server, the client or a scope can require a bound token. */
export class BindingDemands {
  readonly #mode: DpopMode;
  readonly #bound: ReadonlySet<string>;

  /** `bound` contains the scopes that require a bound token. */
  constructor(mode: DpopMode, bound: ReadonlySet<string>) {
    this.#mode = mode;
    this.#bound = bound;
  }

  /**
   * Throws if this client cannot get a token with these scopes. `thumbprint` is null for a token
   * that is not bound.
   */
  require(client: ClientDemands, named: readonly string[], thumbprint: string | null): void {
    // If DPoP is off, another feature has bound the token to this key. The requirements for DPoP
    // are then not met.
    if (thumbprint !== null && this.#mode !== 'off') return;
    const reason = this.#demand(client, named);
    if (reason === null) return;
    // An operator turned DPoP off after the client began to require it. An unbound token would be
    // less safe than the client expects.
    if (this.#mode === 'off') {
      throw new OAuthError(
        'unauthorized_client',
        'The tokens of this client have to be bound by DPoP, which this server does not offer.',
        `the token must be bound to a key with DPoP (${reason}), but oauth_server:dpop is off; ` +
          'set it to "accept" or "require"',
      );
    }
    throw new DpopError(
      'invalid_dpop_proof',
      `the request has no proof, but the token must be bound to a key: ${reason}`,
    );
  }

  #demand(client: ClientDemands, named: readonly string[]): string | null {
    if (client.dpopBoundAccessTokens) return 'the client requires it';
    if (this.#mode === 'require') return 'oauth_server:dpop is "require"';
    const scope = named.find((name) => this.#bound.has(name));
    return scope === undefined ? null : `the scope ${scope} requires it`;
  }
}
