import type { Details } from '../store/grant.ts';

/** Returns the claims that describe an authorization's details. */
export type DescribesDetails = (details: Details) => Readonly<Record<string, unknown>>;

/** Combines the descriptions from all features. */
export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details) =>
    Object.assign({}, ...features.map((describe) => describe(details))) as Details;
}
