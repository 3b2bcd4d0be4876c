import type { Log } from '../../contracts/log.ts';
import type { UserInterface } from '../../contracts/person.ts';

/** Which scope releases which claims (OpenID Connect Core section 5.4). Every other claim is dropped. */
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
  const names: string[] = [];
  for (const scope of scopes)
    if (Object.hasOwn(CLAIMS_OF_SCOPE, scope)) names.push(...(CLAIMS_OF_SCOPE[scope] ?? []));
  return names;
}

/**
 * Adds claims about a person to those of `getProfile()`; it never replaces one of them. A claim that no scope of the server
 * releases (OpenID Connect Core section 5.4) is dropped, and the log says so once for each name.
 */
export type ClaimsMapper = (
  user: UserInterface,
) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;

/** What is released about a person under the granted scopes: the profile first, then what the host's mapper adds. */
export type Claims = (
  user: UserInterface,
  scopes: readonly string[],
) => Promise<Readonly<Record<string, unknown>>>;

export interface ClaimsOptions {
  readonly mapper: ClaimsMapper | undefined;
  /** The names of the scopes that the server offers. */
  readonly offered: readonly string[];
  readonly log: Log;
}

export function createClaims({ mapper, offered, log }: ClaimsOptions): Claims {
  const released = new Set(claimNames(offered));
  const warned = new Set<string>();

  /** Once for each name, up to a number that somebody would still read. */
  function warnOfDropped(claims: Readonly<Record<string, unknown>>): void {
    for (const claim of Object.keys(claims)) {
      if (released.has(claim) || warned.has(claim) || warned.size >= MOST_WARNINGS) continue;
      warned.add(claim);
      log.warning('The claim {claim} is dropped: {reason}', { claim, reason: whyDropped(claim) });
    }
  }

  return async (user, scopes) => {
    const names = claimNames(scopes);
    if (names.length === 0) return {};
    const profile: Readonly<Record<string, unknown>> = user.getProfile();
    const added = mapper === undefined ? {} : await mapper(user);
    warnOfDropped(profile);
    warnOfDropped(added);
    const claims: Record<string, unknown> = {};
    for (const name of names) {
      const value = own(profile, name) ?? (mapper === undefined ? undefined : own(added, name));
      if (value !== undefined && value !== null) claims[name] = value;
    }
    return claims;
  };
}

const MOST_WARNINGS = 100;

function whyDropped(claim: string): string {
  const [scope] = Object.entries(CLAIMS_OF_SCOPE).find(([, names]) => names.includes(claim)) ?? [];
  if (scope !== undefined) return `the scope ${scope}, which releases it, is not in oauth_server:scopes`;
  return 'OpenID Connect defines no scope that releases it; the application can tell it by an API of its own';
}

function own(map: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
