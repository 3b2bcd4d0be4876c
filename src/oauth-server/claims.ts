import type { UserInterface } from '../host/contracts.ts';
import type { ClaimsMapper } from './config.ts';

/** Which scope releases which claims (OpenID Connect Core section 5.4). A claim that stands nowhere here is dropped. */
const CLAIMS_OF_SCOPE: Readonly<Record<string, readonly string[]>> = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
};

/** The claims that the scopes release, in the scopes' order. */
export function claimNames(scopes: readonly string[]): readonly string[] {
  return scopes.flatMap((scope) =>
    Object.hasOwn(CLAIMS_OF_SCOPE, scope) ? (CLAIMS_OF_SCOPE[scope] ?? []) : [],
  );
}

/** What is released about a person under the granted scopes: the profile first, then what the host's mapper adds. */
export async function claimsAbout(
  user: UserInterface,
  scopes: readonly string[],
  mapper: ClaimsMapper | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const names = claimNames(scopes);
  if (names.length === 0) return {};
  const profile: Readonly<Record<string, unknown>> = user.getProfile();
  const added = mapper === undefined ? {} : await mapper(user);
  const claims: Record<string, unknown> = {};
  for (const name of names) {
    const value = own(profile, name) ?? own(added, name);
    if (value !== undefined && value !== null) claims[name] = value;
  }
  return claims;
}

function own(map: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
