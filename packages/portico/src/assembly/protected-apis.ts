import type { Answering } from '../endpoints/endpoint.ts';
import { TokenRoutes, type ProtectedApi } from '../endpoints/protected-routes.ts';
import { BearerTokens } from '../resource/bearer.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import { tokenLookUp } from '../resource/token-accessor.ts';
import type { Contributions } from './start-features.ts';

/** The APIs that accept tokens of this server. Each API accepts only tokens for itself. */
export class ProtectedApis {
  /**
   * The API for requests without the parameter `resource`. Its audience is `oauth_server:audience`,
   * or null if that is empty.
   */
  readonly main: ProtectedApi;
  readonly #configured: ReadonlyMap<string, ProtectedApi>;
  readonly #answering: Answering;
  readonly #contributions: Contributions;
  readonly #resources: ProtectedResources;

  constructor(answering: Answering, contributions: Contributions, resources: ProtectedResources) {
    this.#answering = answering;
    this.#contributions = contributions;
    this.#resources = resources;
    const { audience, resources: known } = answering.server;
    this.main = this.#build(audience);
    const others = known.all.map(({ resource }) => resource).filter((each) => each !== audience);
    this.#configured = new Map([
      ...(audience === null ? [] : [[audience, this.main] as const]),
      ...others.map((each) => [each, this.#build(each)] as const),
    ]);
  }

  /** Returns the API with this URL. Throws if it is not configured. */
  find(url: string): ProtectedApi {
    const found = this.#configured.get(url);
    if (found !== undefined) return found;
    const known = [...this.#configured.keys()].join(', ') || 'none';
    throw new Error(
      `server.resource('${url}') is not configured: add the URL to oauth_server:resources ` +
        `(configured URLs: ${known})`,
    );
  }

  #build(audience: string | null): ProtectedApi {
    const { resources } = this.#answering.server;
    const api = this.#resources.of(audience);
    const scopes = resources.scopesOf(audience);
    const tokens = new BearerTokens(
      this.#answering.server,
      this.#contributions.binding,
      (granted) => resources.tokenRefusalAt(audience, granted),
    );
    const askable = { scopes, ...(resources.all.length === 0 ? {} : { resource: audience }) };
    const { origin, resourceMetadataUrl, lookUpToken, withToken } = new TokenRoutes(
      this.#answering,
      tokenLookUp(tokens, askable, this.#contributions.tokenMembers),
      api.metadataUrl,
    );
    return {
      origin,
      audience,
      resourceMetadataUrl,
      offers: (scope) => scopes.has(scope),
      serveResource: (needs) => api.add(needs),
      lookUpToken,
      withToken,
    };
  }
}
