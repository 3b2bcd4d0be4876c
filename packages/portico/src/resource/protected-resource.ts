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
   * True to add the scopes that the user has granted to the client before to a new authorization. A
   * client can then request scopes one after the other, when it needs them.
   */
  readonly stepUp?: boolean;
  /**
   * The service scope. If a client is registered for this scope and requests scopes that it may not
   * have, it receives this scope instead.
   */
  readonly serviceScope?: string;
}

export interface PublishedResource {
  /** The server publishes the API's metadata at this URL. Challenges link to it. */
  readonly metadataUrl: string;
  readonly stepUp: boolean;
}

export interface ResourceParts {
  /** Null if tokens are not bound to keys. */
  readonly binding: { readonly offer: BindingOffer } | null;
  /** Null if challenges link to no metadata. */
  readonly resource: PublishedResource | null;
}

/** The API that tokens are for: `oauth_server:audience`, a configured resource, or none. */
export class ProtectedResource {
  /** For challenges. Null if they link to no metadata. */
  readonly metadataUrl: string | null;
  /** Null if the server publishes no metadata for this API. */
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

  needs(): ResourceNeeds {
    return this.#needs;
  }

  metadata(): Readonly<Record<string, unknown>> {
    return this.#needs.metadata ?? this.#own;
  }

  /** New values replace earlier ones. */
  add(more: ResourceNeeds): void {
    this.#needs = { ...this.#needs, ...more };
  }
}

export class ProtectedResources {
  /** The API for requests that name no resource. */
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

  /** Returns `main` for an audience that is not configured. */
  of(audience: string | null): ProtectedResource {
    return (audience === null ? undefined : this.#configured.get(audience)) ?? this.main;
  }

  /** Returns the APIs with published metadata, each with the path of its metadata. */
  published(): readonly (readonly [path: string, resource: ProtectedResource])[] {
    return [...new Set([this.main, ...this.#configured.values()])].flatMap((each) =>
      each.publishedAt === null ? [] : [[new URL(each.publishedAt).pathname, each] as const],
    );
  }
}

/** Returns an empty object if there are no scopes (RFC 9728 section 3.2). */
function scopesSupported(scopes: readonly string[]): {
  readonly scopes_supported?: readonly string[];
} {
  return scopes.length === 0 ? {} : { scopes_supported: scopes };
}
