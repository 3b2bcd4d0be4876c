import type { Details } from '../store/grant.ts';

/** The place where the details of an authorization appear. */
export type DescribedIn = 'id_token' | 'introspection';

/** Returns the claims or response members that the details of an authorization add. */
export type DescribesDetails = (
  details: Details,
  place: DescribedIn,
) => Readonly<Record<string, unknown>>;

/** Combines the descriptions from all features. */
export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details, place) =>
    Object.assign({}, ...features.map((describe) => describe(details, place))) as Details;
}
