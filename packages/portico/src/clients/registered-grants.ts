import { RegistrationError } from '../errors.ts';
import type { Grant } from '../store/client.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import { IDENTITY_SCOPES } from '../tokens/scopes.ts';

/** The default for a client with a redirect URI. */
const CODE_GRANTS: readonly Grant[] = ['authorization_code', 'refresh_token'];

/**
 * Returns the client's grants, with the defaults. Throws if the client cannot have these grants.
 */
export function checkGrants(
  requested: readonly string[],
  redirectUris: readonly string[],
  isPublic: boolean,
  grantTypes: GrantTypes,
): readonly Grant[] {
  const { rights } = grantTypes;
  const unknown = requested.find((grant) => !rights.includes(grant));
  if (unknown !== undefined) {
    throw new RegistrationError(
      `The grant ${JSON.stringify(unknown)} is unknown; use one of ${rights.join(', ')}`,
    );
  }
  const named = new Set<Grant>(requested);
  const choosesTypes = [...named].some((grant) => grant !== 'introspection');
  if (!choosesTypes && redirectUris.length > 0) for (const grant of CODE_GRANTS) named.add(grant);

  if (named.size === 0) {
    throw new RegistrationError(
      'The client has no grant; add --redirect or --grant=client_credentials',
    );
  }
  for (const grant of rights) {
    if (isPublic && named.has(grant) && grantTypes.isConfidential(grant)) {
      throw new RegistrationError(
        `A public client cannot have the grant ${grant}, because it has no secret`,
      );
    }
  }
  if (named.has('refresh_token') && !grantTypes.begin([...named], 'person')) {
    const beginnings = grantTypes.beginning('person').join(' or ');
    throw new RegistrationError(`The grant refresh_token needs ${beginnings}; add that grant too`);
  }
  if (named.has('authorization_code') && redirectUris.length === 0) {
    throw new RegistrationError('The grant authorization_code needs a --redirect');
  }
  if (!named.has('authorization_code') && redirectUris.length > 0) {
    throw new RegistrationError(
      'A --redirect needs the grant authorization_code; add that grant, or remove the redirect',
    );
  }
  return rights.filter((grant) => named.has(grant));
}

/**
 * Throws if a client that gets tokens has no scopes. Also throws if a scope is about a person and
 * the client does not act for people.
 */
export function requireScopes(
  scopes: readonly string[],
  grants: readonly string[],
  grantTypes: GrantTypes,
): void {
  const named = grants.filter((grant) => grant !== 'introspection');
  if (named.length > 0 && scopes.length === 0) {
    throw new RegistrationError('The client has no scope; add at least one with --scope');
  }
  if (named.length > 0 && !grantTypes.begin(named, 'person')) {
    const personal = scopes.find((scope) => Object.hasOwn(IDENTITY_SCOPES, scope));
    if (personal !== undefined) {
      throw new RegistrationError(
        `The scope ${personal} is about a person, but client_credentials tokens are not ` +
          'issued for a person; remove the scope',
      );
    }
  }
}
