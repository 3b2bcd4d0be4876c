import { OAuthError } from '../errors.ts';
import { quotedUri } from '../quoting.ts';
import { IDENTITY_SCOPES, type ScopeCatalog } from './scopes.ts';

/**
 * Resource indicators (RFC 8707). Each grant is for one resource, or for none (null). Tokens are
 * for `oauth_server:audience`, or for a resource that a feature configures.
 */

/** A resource that tokens can be issued for. */
export interface ResourceDescription {
  /** The resource indicator (RFC 8707 section 2). Requests must contain exactly this string. */
  readonly resource: string;
  /**
   * The scopes that clients can request for this resource, in addition to `openid`, `profile` and
   * `email`.
   */
  readonly scopes: readonly string[];
  /** The resource's name for users. Null if it has no name. */
  readonly label: string | null;
  /**
   * The URL where the server publishes the resource's metadata (RFC 9728 section 3). Null if the
   * server does not publish any.
   */
  readonly metadataUrl: string | null;
  /**
   * True if challenges for refused requests link to the resource's metadata (RFC 9728 section 5.1).
   */
  readonly challenge: boolean;
}

export class Resources {
  /** Empty if all tokens are for `oauth_server:audience`. */
  readonly all: readonly ResourceDescription[];
  readonly #audience: string | null;
  readonly #catalog: ScopeCatalog;
  readonly #catalogs: ReadonlyMap<string | null, ScopeCatalog>;
  /** Clients can request these scopes for every resource. */
  readonly #identityScopes: ScopeCatalog;

  /** `audience` is the resource for requests that name none. It may be null. */
  constructor(audience: string | null, catalog: ScopeCatalog, all: readonly ResourceDescription[]) {
    this.all = all;
    this.#audience = audience;
    this.#catalog = catalog;
    const only = (isIn: (name: string) => boolean): ScopeCatalog =>
      new Map([...catalog].filter(([name]) => Object.hasOwn(IDENTITY_SCOPES, name) || isIn(name)));
    this.#catalogs = new Map(
      all.map(({ resource, scopes }) => [resource, only((name) => scopes.includes(name))]),
    );
    this.#identityScopes = only(() => false);
  }

  find(audience: string | null): ResourceDescription | null {
    return this.all.find(({ resource }) => resource === audience) ?? null;
  }

  /** Returns the scopes for this audience. A resource's own scopes are only for that resource. */
  scopesOf(audience: string | null): ScopeCatalog {
    if (this.all.length === 0) return this.#catalog;
    return (
      this.#catalogs.get(audience) ??
      (audience === this.#audience ? this.#identityScopes : NO_SCOPES)
    );
  }

  /**
   * Returns the audience for a named resource. Returns null if the server issues no tokens for it.
   */
  named(resource: string | undefined): { readonly audience: string | null } | null {
    const audience = resource ?? this.#audience;
    return this.#isKnown(audience) ? { audience } : null;
  }

  /**
   * Returns the named resource, or the default. Throws `invalid_target` if the server issues no
   * tokens for it.
   */
  require(resource: string | undefined): string | null {
    const named = this.named(resource);
    if (named === null && resource !== undefined && this.all.length > 0) {
      throw notIssuedFor(
        `the requested resource is ${quotedUri(resource)}, which is not in oauth_server:resources`,
      );
    }
    return named === null ? requireAudience(resource, this.#audience) : named.audience;
  }

  /** Returns why the server no longer issues tokens for this audience, or null. */
  grantRefusal(audience: string | null): string | null {
    if (this.#isKnown(audience)) return null;
    const [granted, here] = [quotedAudience(audience), quotedAudience(this.#audience)];
    return this.all.length === 0
      ? `the grant is for ${granted}, but oauth_server:audience is ${here}`
      : `the grant is for ${granted}, which is not in oauth_server:resources`;
  }

  /** Returns why this server does not accept this audience, or null. */
  tokenRefusal(audience: string | null): string | null {
    if (this.#isKnown(audience)) return null;
    const [granted, here] = [quotedAudience(audience), quotedAudience(this.#audience)];
    return this.all.length === 0
      ? `the token was granted for ${granted}, but oauth_server:audience is ${here}`
      : `the token was granted for ${granted}, which is not in oauth_server:resources`;
  }

  /** Returns why the resource `here` does not accept a token for `audience`, or null. */
  tokenRefusalAt(here: string | null, audience: string | null): string | null {
    if (audience === here || this.all.length === 0) return this.tokenRefusal(audience);
    return (
      `the token was granted for ${quotedAudience(audience)}, but was used ` +
      `at ${quotedAudience(here)}`
    );
  }

  #isKnown(audience: string | null): boolean {
    return audience === this.#audience || this.#catalogs.has(audience);
  }
}

const NO_SCOPES: ScopeCatalog = new Map();

/** Returns the named resource, for the log, if it is not this audience. Otherwise returns null. */
export function otherResource(
  resource: string | undefined,
  audience: string | null,
): string | null {
  return resource === undefined || resource === audience ? null : quotedUri(resource);
}

/** Returns the configured audience. Throws `invalid_target` if the request names another one. */
export function requireAudience(
  resource: string | undefined,
  configured: string | null,
): string | null {
  const other = otherResource(resource, configured);
  if (other === null) return configured;
  throw notIssuedFor(
    `the requested resource is ${other}, but oauth_server:audience is ` +
      quotedAudience(configured),
  );
}

function notIssuedFor(detail: string): OAuthError {
  return new OAuthError(
    'invalid_target',
    'The resource is not one that this server issues tokens for.',
    detail,
  );
}

export function quotedAudience(audience: string | null): string {
  return audience === null ? 'none' : quotedUri(audience);
}

/** Inserts the well-known path before the resource's path (RFC 9728 section 3.1). */
export function getMetadataUrl(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`;
}
