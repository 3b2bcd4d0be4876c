import { ConfigurationError, type ConfigurationProblem } from '@portico/sql';
import type { BindingOffer } from './http/challenges.ts';
import { admitsUnverified, type OAuthServerConfig } from './config.ts';
import { listedScopes } from './tokens/scopes.ts';

/** What the API that tokens are for, such as an MCP endpoint, needs of the server beside tokens. Nothing of it unless given. */
export interface ResourceNeeds {
  /** Its metadata (RFC 9728 section 2), where the server publishes it: in place of what the server says of it by itself. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** That an authorization also contains what its person has allowed its client before, so that clients can ask for more. */
  readonly stepUp?: boolean;
  /** The scope that a service, a client registered for it, gets in place of those that it may not have. */
  readonly serviceScope?: string;
}

/** The API that tokens are for: `oauth_server:audience`, or none. */
export interface ProtectedResource {
  /** Where its metadata is published, for challenges; null unless `oauth_server:challenge` is on. */
  readonly metadataUrl: string | null;
  /** What it needs by now. */
  readonly needs: () => ResourceNeeds;
  /** Its metadata by now. */
  readonly metadata: () => Readonly<Record<string, unknown>>;
  /** Adds to what it needs. */
  readonly add: (needs: ResourceNeeds) => void;
}

export interface ProtectedResourceOptions {
  readonly issuer: string;
  readonly config: Pick<
    OAuthServerConfig,
    'audience' | 'challenge' | 'name' | 'scopes' | 'registration' | 'client_id_metadata_documents'
  >;
  /** What it says of bound tokens; null where there are none. */
  readonly binding: BindingOffer | null;
}

/** Throws a ConfigurationError for an audience whose metadata cannot be published here, when challenges are to name it. */
export function createProtectedResource({
  issuer,
  config,
  binding,
}: ProtectedResourceOptions): ProtectedResource {
  const problems = challengeProblems(config, issuer);
  if (problems.length > 0) throw new ConfigurationError(problems);
  let needs: ResourceNeeds = { stepUp: config.challenge };
  const own = {
    resource: config.audience,
    authorization_servers: [issuer],
    ...scopesSupported(listedScopes(Object.keys(config.scopes), admitsUnverified(config))),
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

/** What is wrong with `oauth_server:challenge`, beside the other keys. */
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
