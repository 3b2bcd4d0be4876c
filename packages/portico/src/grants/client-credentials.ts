import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { ProvedKey } from '../tokens/key-binding.ts';
import { IDENTITY_SCOPES, requireScopes, type ScopeCatalog } from '../tokens/scopes.ts';
import type { TokenGrant, TokenResponse } from './grant.ts';
import type { GrantParts } from './parts.ts';

/**
 * Issues an access token to the client itself, without a user or a refresh token (RFC 6749 section
 * 4.4).
 */
export class ClientCredentialsGrant implements TokenGrant {
  readonly #parts: GrantParts;

  constructor(parts: GrantParts) {
    this.#parts = parts;
  }

  async answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse> {
    const { server, issuing, resources: apis, droppedScopes } = this.#parts;
    const { scopes: catalog, resources } = server;
    if (proved !== null) await proved.claim();
    const thumbprint = proved?.thumbprint ?? null;
    const resource = form.get('resource');
    // Refuse an unknown resource below, after the check of the scopes.
    const named = resources.named(resource);
    const audience = named?.audience ?? null;
    const scopes = applicationScopes(client, form.get('scope'), {
      catalog,
      grantable: named === null ? catalog : resources.scopesOf(audience),
      serviceScope: apis.of(audience).needs().serviceScope,
      isDropped: droppedScopes.of(client, audience, true),
    });
    const target = resources.require(resource);
    return issuing.toClient('client_credentials', { client, scopes, thumbprint, audience: target });
  }
}

interface ApplicationScopeRules {
  readonly catalog: ScopeCatalog;
  readonly grantable: ScopeCatalog;
  readonly serviceScope: string | undefined;
  readonly isDropped: (name: string) => boolean;
}

/**
 * Returns the requested scopes, or all of the client's scopes if the request names none. Refuses
 * scopes about a user, such as `openid`.
 *
 * Many clients request every scope in the metadata, even scopes that they may not have. A client
 * with the service scope gets the service scope instead of these. For any other client, this throws
 * `invalid_scope`, unless the server drops the scopes.
 */
function applicationScopes(
  client: Client,
  scope: string | undefined,
  { catalog, grantable, serviceScope, isDropped }: ApplicationScopeRules,
): readonly string[] {
  const available = client.scopes.filter(
    (name) => grantable.has(name) && !Object.hasOwn(IDENTITY_SCOPES, name),
  );
  const isService = serviceScope !== undefined && available.includes(serviceScope);
  return requireScopes(scope, {
    available,
    ...(isService ? { inPlace: { of: catalog, is: serviceScope } } : {}),
    isDropped,
    refusal: 'The scope is unknown, or not one this client may use for itself.',
    detail: 'these scopes are unknown, not registered for this client, or about a user',
  });
}
