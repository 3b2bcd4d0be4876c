import type { BindingOffer } from '../http/challenges.ts';
import type { Server } from '../server.ts';
import { listedScopes } from '../tokens/scopes.ts';

/**
 * What the protected API, such as an MCP endpoint, needs from the server besides tokens. All
 * settings are optional.
 */
export interface ResourceNeeds {
  /**
   * The API's metadata (RFC 9728 section 2). If the server publishes metadata, this replaces the
   * server's own description.
   */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Whether a new authorization also contains what the person has allowed the client before.
   * Clients can then ask for more scopes step by step.
   */
  readonly stepUp?: boolean;
  /**
   * The service scope. A client that is registered for it gets it instead of requested scopes that
   * the client may not have.
   */
  readonly serviceScope?: string;
}

/** How the server tells clients about the protected API. */
export interface PublishedResource {
  /**
   * The URL of the API's metadata. The server publishes the metadata, and challenges name the URL.
   */
  readonly metadataUrl: string;
  /** As `ResourceNeeds.stepUp`. */
  readonly stepUp: boolean;
}

/** What features contribute to the protected API. */
export interface ResourceParts {
  /** How tokens are bound. Null if they are not bound. */
  readonly binding: { readonly offer: BindingOffer } | null;
  /** How the server tells clients about the API. Null if challenges name no metadata. */
  readonly resource: PublishedResource | null;
}

/** The API that tokens are for: `oauth_server:audience`, or no API. */
export class ProtectedResource {
  /** The URL of the API's metadata, for challenges. Null if the metadata is not published. */
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

  /** Returns the API's current needs. */
  needs(): ResourceNeeds {
    return this.#needs;
  }

  /** Returns the API's current metadata. */
  metadata(): Readonly<Record<string, unknown>> {
    return this.#needs.metadata ?? this.#own;
  }

  /** Adds to the API's needs. */
  add(more: ResourceNeeds): void {
    this.#needs = { ...this.#needs, ...more };
  }
}

/**
 * Returns the metadata member that lists scopes. Leaves it out if there are no scopes (RFC 9728
 * section 3.2).
 */
export function scopesSupported(scopes: readonly string[]): {
  readonly scopes_supported?: readonly string[];
} {
  return scopes.length === 0 ? {} : { scopes_supported: scopes };
}
