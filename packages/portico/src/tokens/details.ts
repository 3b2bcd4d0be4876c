import type { Details } from '../store/grant.ts';

/** Returns what the details of an authorization say about it. */
export type DescribesDetails = (details: Details) => Readonly<Record<string, unknown>>;

/** Returns what all features say about an authorization. */
export function collectDescriptions(features: readonly DescribesDetails[]): DescribesDetails {
  return (details) =>
    Object.assign({}, ...features.map((describe) => describe(details))) as Details;
}
