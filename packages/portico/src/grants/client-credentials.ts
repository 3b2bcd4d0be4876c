import type { Audit } from '../auditing/audit.ts';
import { IDENTITY_SCOPES, requireScopes, scopesLeftOut, type ScopeCatalog } from '../tokens/scopes.ts';
import type { ProtectedResource } from '../protected-resource.ts';
import type { Client } from '../store/client.ts';
import type { Store } from '../store/store.ts';
import { requireAudience } from '../tokens/resource-indicators.ts';
import type { Measuring } from '../measuring/measuring.ts';
import { requireGrant, type GrantHandler } from './grant.ts';
import type { Issuing } from './issuing.ts';

export interface ClientCredentialsGrantOptions {
  readonly store: Store;
  readonly issuing: Pick<Issuing, 'forClient'>;
  readonly scopes: ScopeCatalog;
  /**
   * Whether there can be clients that no operator registered: requested scopes that they cannot
   * have are dropped.
   */
  readonly admitsUnverified: boolean;
  /** `oauth_server:audience`; null if it is empty. */
  readonly audience: string | null;
  readonly resource: Pick<ProtectedResource, 'needs'>;
  readonly audit: Audit;
  readonly clock: () => number;
  readonly measuring: Pick<Measuring, 'tokenIssued'> | null;
}

/** A token for the application itself (RFC 6749 section 4.4): no person, no refresh token. */
export function createClientCredentialsGrant(options: ClientCredentialsGrantOptions): GrantHandler {
  const { store, issuing, scopes: catalog, admitsUnverified, audience, resource } = options;
  const { audit, clock, measuring } = options;
  const grantType = 'client_credentials';
  return async (client, form, proved) => {
    requireGrant(client, grantType);
    if (proved !== null) await proved.claim();
    const thumbprint = proved?.thumbprint ?? null;
    const scopes = applicationScopes(client, form.get('scope'), {
      catalog,
      serviceScope: resource.needs().serviceScope,
      leftOut: admitsUnverified ? scopesLeftOut(client, catalog) : [],
    });
    const target = requireAudience(form.get('resource'), audience);
    const now = clock();
    const { tokens, response } = issuing.forClient({ client, scopes, thumbprint, now });
    await store.accessTokens.issueClientToken(client.id, target, tokens.accessToken, now);
    const about = { clientId: client.id, person: null, authorization: null, scopes };
    await audit({ type: 'tokens_issued', grantType, ...about });
    measuring?.tokenIssued(grantType, 'access_token');
    return response;
  };
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
