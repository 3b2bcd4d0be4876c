import type { Details } from '../store/grant.ts';

/**
 * Where features describe an authorization's details: in the ID token or in the introspection
 * response.
 */
export type DescribedIn = 'id_token' | 'introspection';

/**
 * Returns the claims, or the members of the introspection response, for an authorization's details.
 */
export type DescribesDetails = (
  details: Details,
  place: DescribedIn,
) => Readonly<Record<string, unknown>>;

/** Combines the members that features return. */
export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details, place) =>
    Object.assign({}, ...features.map((describe) => describe(details, place))) as Details;
}
