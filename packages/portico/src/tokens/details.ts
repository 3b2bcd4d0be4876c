import type { Details } from '../store/grant.ts';

export type DescribedIn = 'id_token' | 'introspection';

/** Returns the claims, or the introspection members, for an authorization's details. */
export type DescribesDetails = (
  details: Details,
  place: DescribedIn,
) => Readonly<Record<string, unknown>>;

export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details, place) =>
    Object.assign({}, ...features.map((describe) => describe(details, place))) as Details;
}
