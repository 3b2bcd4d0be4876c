import type { Details } from '../store/grant.ts';

/** Where an authorization is described. */
export type DescribedIn = 'id_token' | 'introspection';

/** Returns what the details of an authorization say about it. */
export type DescribesDetails = (
  details: Details,
  place: DescribedIn,
) => Readonly<Record<string, unknown>>;

/** Combines the descriptions from all features. */
export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details, place) =>
    Object.assign({}, ...features.map((describe) => describe(details, place))) as Details;
}
