import type { Parameters } from '../parameters.ts';
import type { Client } from '../store/client.ts';
import type { ProvedKey } from '../tokens/key-binding.ts';
import { requireAudience } from '../tokens/resource-indicators.ts';
import { IDENTITY_SCOPES, requireScopes, scopesLeftOut, type ScopeCatalog } from '../tokens/scopes.ts';
import { requireGrant, type TokenGrant, type TokenResponse } from './grant.ts';
import type { GrantParts } from './parts.ts';

const GRANT_TYPE = 'client_credentials';

/** A token for the application itself (RFC 6749 section 4.4): no person, no refresh token. */
export class ClientCredentialsGrant implements TokenGrant {
  readonly #parts: GrantParts;

  constructor(parts: GrantParts) {
    this.#parts = parts;
  }

  async answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse> {
    const { server, issuing, resource } = this.#parts;
    const { admitsUnverified, store, scopes: catalog, audience, audit, clock, measuring } = server;
    requireGrant(client, GRANT_TYPE);
    if (proved !== null) await proved.claim();
    const thumbprint = proved?.thumbprint ?? null;
    const scopes = applicationScopes(client, form.get('scope'), {
      catalog,
      serviceScope: resource.needs().serviceScope,
      leftOut: admitsUnverified ? scopesLeftOut(client, catalog) : [],
    });
    const target = requireAudience(form.get('resource'), audience);
    const now = clock();
    const { tokens, response } = await issuing.forClient({ client, scopes, thumbprint, now });
    await store.accessTokens.issueClientToken(client.id, target, tokens.accessToken, now);
    const about = { clientId: client.id, person: null, authorization: null, scopes };
    await audit({ type: 'tokens_issued', grantType: GRANT_TYPE, ...about });
    measuring?.tokenIssued(GRANT_TYPE, 'access_token');
    return response;
  }
}

interface ApplicationScopeRules {
  readonly catalog: ScopeCatalog;
  readonly serviceScope: string | undefined;
  readonly leftOut: readonly string[];
}

/**
 * The requested scopes, or all of the client's; scopes about a person make no sense here. A service
 * of the resource may request other offered scopes, as clients do that request everything in the
 * metadata: it gets the service scope instead.
 */
function applicationScopes(
  client: Client,
  scope: string | undefined,
  { catalog, serviceScope, leftOut }: ApplicationScopeRules,
): readonly string[] {
  const available = client.scopes.filter(
    (name) => catalog.has(name) && !Object.hasOwn(IDENTITY_SCOPES, name),
  );
  const isService = serviceScope !== undefined && available.includes(serviceScope);
  return requireScopes(scope, {
    available,
    ...(isService ? { inPlace: { of: catalog, is: serviceScope } } : {}),
    leftOut: leftOut.length === 0 ? leftOut : [...leftOut, ...Object.keys(IDENTITY_SCOPES)],
    refusal: 'The scope is unknown, or not one this client may use for itself.',
    detail: 'unknown, not registered for this client, or about a person',
  });
}
