import type { BindingOffer } from '../http/challenges.ts';
import type { Server } from '../server.ts';
import { listedScopes } from '../tokens/scopes.ts';

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

/** How the API that tokens are for is made known to clients. */
export interface PublishedResource {
  /** The URL of its metadata, which the server publishes, and challenges name. */
  readonly metadataUrl: string;
  /** As in ResourceNeeds. */
  readonly stepUp: boolean;
}

/** What features contribute to it. */
export interface ResourceParts {
  /** How tokens are bound; null if they are not. */
  readonly binding: { readonly offer: BindingOffer } | null;
  /** Null if challenges name no metadata. */
  readonly resource: PublishedResource | null;
}

/** The API that tokens are for: `oauth_server:audience`, or none. */
export class ProtectedResource {
  /** The URL of its metadata, for challenges; null unless it is published. */
  readonly metadataUrl: string | null;
  readonly #own: Readonly<Record<string, unknown>>;
  #needs: ResourceNeeds;

  constructor({ issuer, config, admitsUnverified }: Server, { binding, resource }: ResourceParts) {
    this.metadataUrl = resource?.metadataUrl ?? null;
    this.#needs = { stepUp: resource?.stepUp ?? false };
    this.#own = {
      resource: config.audience,
      authorization_servers: [issuer],
      ...scopesSupported(listedScopes(Object.keys(config.scopes), admitsUnverified)),
      bearer_methods_supported: ['header'],
      resource_name: config.name,
      ...binding?.offer.metadata,
    };
  }

  /** Its current needs. */
  needs(): ResourceNeeds {
    return this.#needs;
  }

  /** Its current metadata. */
  metadata(): Readonly<Record<string, unknown>> {
    return this.#needs.metadata ?? this.#own;
  }

  /** Adds to its needs. */
  add(more: ResourceNeeds): void {
    this.#needs = { ...this.#needs, ...more };
  }
}

/** The member of metadata that names scopes; left out without scopes (RFC 9728 section 3.2). */
export function scopesSupported(scopes: readonly string[]): {
  readonly scopes_supported?: readonly string[];
} {
  return scopes.length === 0 ? {} : { scopes_supported: scopes };
}
