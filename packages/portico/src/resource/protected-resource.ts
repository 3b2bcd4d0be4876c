import type { BindingOffer } from '../http/challenges.ts';
import type { Server } from '../server.ts';
import type { ResourceDescription } from '../tokens/resource-indicators.ts';
import { listedScopes } from '../tokens/scopes.ts';

/** Additional settings for a protected API, for example for an MCP endpoint. Each is optional. */
export interface ResourceNeeds {
  /**
   * The API's metadata (RFC 9728 section 2). It replaces the metadata that the server would publish
   * for the API. It has no effect if the server publishes no metadata for the API.
   */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Whether a new authorization also contains the scopes that the user has granted to the client
   * before. A client can then request scopes one after the other, when it needs them.
   */
  readonly stepUp?: boolean;
  /**
   * The service scope. If a client is registered for this scope and requests scopes that it may not
   * have, it receives this scope instead.
   */
  readonly serviceScope?: string;
}

/** How clients learn about the protected API. */
export interface PublishedResource {
  /**
   * The URL of the API's metadata. The server publishes the metadata there, and challenges link to
   * it.
   */
  readonly metadataUrl: string;
  /** See `ResourceNeeds.stepUp`. */
  readonly stepUp: boolean;
}

/** The parts that features provide for the protected API. */
export interface ResourceParts {
  /** How tokens are bound to keys. Null if they are not bound. */
  readonly binding: { readonly offer: BindingOffer } | null;
  /** Where clients find the API's metadata. Null if challenges do not link to any. */
  readonly resource: PublishedResource | null;
}

/** The API that tokens are issued for: `oauth_server:audience`, a configured resource, or none. */
export class ProtectedResource {
  /**
   * The URL of the API's metadata, for challenges. Null if challenges do not link to the metadata.
   */
  readonly metadataUrl: string | null;
  /**
   * The URL where the server publishes the API's metadata. Null if the server does not publish it.
   */
  readonly publishedAt: string | null;
  readonly #own: Readonly<Record<string, unknown>>;
  #needs: ResourceNeeds;

  /** `described` is null unless the API is a configured resource. */
  constructor(
    { issuer, config, admitsUnverified }: Server,
    { binding, resource }: ResourceParts,
    described: ResourceDescription | null = null,
  ) {
    const isChallenging = described?.challenge === true;
    this.metadataUrl = resource?.metadataUrl ?? (isChallenging ? described.metadataUrl : null);
    this.publishedAt = described?.metadataUrl ?? this.metadataUrl;
    this.#needs = { stepUp: isChallenging || (resource?.stepUp ?? false) };
    const scopes = described?.scopes ?? Object.keys(config.scopes);
    this.#own = {
      resource: described?.resource ?? config.audience,
      authorization_servers: [issuer],
      ...scopesSupported(listedScopes(scopes, admitsUnverified)),
      bearer_methods_supported: ['header'],
      resource_name: described?.label ?? config.name,
      ...binding?.offer.metadata,
    };
  }

  /** Returns the current settings of the API. */
  needs(): ResourceNeeds {
    return this.#needs;
  }

  /** Returns the API's current metadata. */
  metadata(): Readonly<Record<string, unknown>> {
    return this.#needs.metadata ?? this.#own;
  }

  /** Adds settings for the API. New values replace earlier values. */
  add(more: ResourceNeeds): void {
    this.#needs = { ...this.#needs, ...more };
  }
}

/** All APIs that tokens can be issued for. */
export class ProtectedResources {
  /** The API for requests that name no resource: `oauth_server:audience`, or none. */
  readonly main: ProtectedResource;
  readonly #configured: ReadonlyMap<string, ProtectedResource>;

  constructor(server: Server, parts: ResourceParts) {
    const { audience, resources } = server;
    this.main = new ProtectedResource(server, parts, resources.find(audience));
    const others = { ...parts, resource: null };
    this.#configured = new Map(
      resources.all.map((described) => [
        described.resource,
        described.resource === audience
          ? this.main
          : new ProtectedResource(server, others, described),
      ]),
    );
  }

  /** Returns the API for this audience, or `main` if it is not configured. */
  of(audience: string | null): ProtectedResource {
    return (audience === null ? undefined : this.#configured.get(audience)) ?? this.main;
  }

  /** Returns the APIs whose metadata the server publishes, each with the path of its metadata. */
  published(): readonly (readonly [path: string, resource: ProtectedResource])[] {
    return [...new Set([this.main, ...this.#configured.values()])].flatMap((each) =>
      each.publishedAt === null ? [] : [[new URL(each.publishedAt).pathname, each] as const],
    );
  }
}

/**
 * Returns the metadata member that lists scopes, or an empty object if there are none (RFC 9728
 * section 3.2).
 */
function scopesSupported(scopes: readonly string[]): {
  readonly scopes_supported?: readonly string[];
} {
  return scopes.length === 0 ? {} : { scopes_supported: scopes };
}
