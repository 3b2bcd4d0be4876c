import { ConfigurationError, type ConfigurationProblem } from '@portico/sql';
import type { BindingOffer } from './http/challenges.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Server } from './server.ts';
import { listedScopes } from './tokens/scopes.ts';

/**
 * What the API of the tokens, such as an MCP endpoint, needs from the server besides tokens.
 * Nothing unless given.
 */
export interface ResourceNeeds {
  /**
   * Its metadata (RFC 9728 section 2), if the server publishes it: replaces the server's own
   * description.
   */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Makes an authorization also contain what its person has allowed its client before, so that
   * clients can ask for more.
   */
  readonly stepUp?: boolean;
  /**
   * The scope that a service, a client registered for it, gets instead of those that it may not
   * have.
   */
  readonly serviceScope?: string;
}

/** The API that tokens are for: `oauth_server:audience`, or none. */
export interface ProtectedResource {
  /** The URL of its metadata, for challenges; null unless `oauth_server:challenge` is on. */
  readonly metadataUrl: string | null;
  /** Its current needs. */
  readonly needs: () => ResourceNeeds;
  /** Its current metadata. */
  readonly metadata: () => Readonly<Record<string, unknown>>;
  /** Adds to its needs. */
  readonly add: (needs: ResourceNeeds) => void;
}

/**
 * `binding` says how tokens are bound; null if they are not. Throws a ConfigurationError for an
 * audience whose metadata cannot be published here although challenges should name it.
 */
export function createProtectedResource(
  { issuer, config, admitsUnverified }: Server,
  binding: BindingOffer | null,
): ProtectedResource {
  const problems = challengeProblems(config, issuer);
  if (problems.length > 0) throw new ConfigurationError(problems);
  let needs: ResourceNeeds = { stepUp: config.challenge };
  const own = {
    resource: config.audience,
    authorization_servers: [issuer],
    ...scopesSupported(listedScopes(Object.keys(config.scopes), admitsUnverified)),
    bearer_methods_supported: ['header'],
    resource_name: config.name,
    ...binding?.metadata,
  };
  return {
    metadataUrl: config.challenge ? metadataUrlOf(config.audience) : null,
    needs: () => needs,
    metadata: () => needs.metadata ?? own,
    add(more) {
      needs = { ...needs, ...more };
    },
  };
}

/** The member of metadata that names scopes; left out without scopes (RFC 9728 section 3.2). */
export function scopesSupported(scopes: readonly string[]): {
  readonly scopes_supported?: readonly string[];
} {
  return scopes.length === 0 ? {} : { scopes_supported: scopes };
}

/** The problems of `oauth_server:challenge` together with other keys. */
export function challengeProblems(
  { challenge, audience }: Pick<OAuthServerConfig, 'audience' | 'challenge'>,
  publicUrl: string,
): readonly ConfigurationProblem[] {
  if (!challenge) return [];
  const key = 'oauth_server:challenge';
  if (audience === '') {
    return [
      { key, message: 'needs oauth_server:audience: the API that the metadata in a challenge describes' },
    ];
  }
  const { origin } = new URL(publicUrl);
  if (new URL(audience).origin === origin) return [];
  const message = `cannot publish the metadata of ${audience}, which is not on ${origin}; challenge there, with @portico/resource-server`;
  return [{ key, message }];
}

/** RFC 9728 section 3.1: in front of the path of the resource. */
function metadataUrlOf(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}${search}`;
}
