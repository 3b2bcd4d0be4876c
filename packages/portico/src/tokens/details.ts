import type { Details } from '../store/grant.ts';

/** Where the details of an authorization are shown. */
export type DescribedIn = 'id_token' | 'introspection';

/** Returns the claims or response members for the details of an authorization. */
export type DescribesDetails = (
  details: Details,
  place: DescribedIn,
) => Readonly<Record<string, unknown>>;

/** Combines the members that features return. */
export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details, place) =>
    Object.assign({}, ...features.map((describe) => describe(details, place))) as Details;
}
