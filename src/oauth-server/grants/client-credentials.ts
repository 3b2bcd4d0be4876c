import type { Audit } from '../auditing/audit.ts';
import { IDENTITY_SCOPES, requireScopes, type ScopeCatalog } from '../tokens/scopes.ts';
import type { ProtectedResource } from '../protected-resource.ts';
import type { Client } from '../store/client.ts';
import type { Store } from '../store/store.ts';
import { requireAudience } from '../tokens/resource-indicators.ts';
import type { Measuring } from '../measuring/measuring.ts';
import { requireGrant, type GrantHandler } from './grant.ts';
import type { Issuing } from './issuing.ts';

export interface ClientCredentialsGrantOptions {
  readonly store: Pick<Store, 'issueClientToken'>;
  readonly issuing: Pick<Issuing, 'forClient'>;
  readonly scopes: ScopeCatalog;
  /** `oauth_server:audience`; null when it is empty. */
  readonly audience: string | null;
  readonly resource: Pick<ProtectedResource, 'needs'>;
  readonly audit: Audit;
  readonly clock: () => number;
  readonly measuring: Pick<Measuring, 'tokenIssued'> | null;
}

/** A token for the application itself (RFC 6749 section 4.4): no person, no refresh token. */
export function createClientCredentialsGrant(options: ClientCredentialsGrantOptions): GrantHandler {
  const { store, issuing, scopes: catalog, audience, resource, audit, clock, measuring } = options;
  const grantType = 'client_credentials';
  return async (client, form, proved) => {
    requireGrant(client, grantType);
    if (proved !== null) await proved.claim();
    const thumbprint = proved?.thumbprint ?? null;
    const scopes = applicationScopes(client, catalog, resource.needs().serviceScope, form.get('scope'));
    const target = requireAudience(form.get('resource'), audience);
    const now = clock();
    const { tokens, response } = issuing.forClient({ client, scopes, thumbprint, now });
    await store.issueClientToken(client.id, target, tokens.accessToken, now);
    const about = { clientId: client.id, person: null, authorization: null, scopes };
    await audit({ type: 'tokens_issued', grantType, ...about });
    measuring?.tokenIssued(grantType, 'access_token');
    return response;
  };
}

/**
 * The scopes asked for, or all that the client has; those about a person make no sense here. A service of the resource may ask for
 * others that the server offers, as clients do that ask for what metadata names: the service scope stands in for them.
 */
function applicationScopes(
  client: Client,
  catalog: ScopeCatalog,
  serviceScope: string | undefined,
  scope: string | undefined,
): readonly string[] {
  const available = client.scopes.filter(
    (name) => catalog.has(name) && !Object.hasOwn(IDENTITY_SCOPES, name),
  );
  const isService = serviceScope !== undefined && available.includes(serviceScope);
  return requireScopes(scope, {
    available,
    ...(isService ? { inPlace: { of: catalog, is: serviceScope } } : {}),
    refusal: 'The scope is unknown, or not one this client may use for itself.',
    detail: 'unknown, not registered for this client, or about a person',
  });
}
