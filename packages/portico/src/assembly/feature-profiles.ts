import { ConfigurationError, type ConfigurationProblem } from '@portico/sql';
import type { OAuthServerConfig } from '../config.ts';
import type { Contribution, Feature, ProfileOffer } from '../feature.ts';
import { Profiles } from '../profiles.ts';
import { collectAlgorithms } from './start-features.ts';

/** The security profiles that features offer with this configuration. */
export function collectProfiles(features: readonly Feature[], config: OAuthServerConfig): Profiles {
  return new Profiles(
    offers(features).map((offer) => ({
      ...offer,
      isServers: offer.isServers(config),
      missing: offer.missing(config),
    })),
  );
}

/**
 * Returns the configuration with the settings that the server's profile requires. They replace the
 * configured ones.
 */
export function withProfile(
  features: readonly Feature[],
  config: OAuthServerConfig,
): OAuthServerConfig {
  return Object.assign(
    {},
    config,
    ...serversOffers(features, config).map(({ demanded }) => demanded),
  ) as OAuthServerConfig;
}

/** All problems that features and the server's profile find in the configuration. */
export function featureProblems(
  features: readonly Feature[],
  config: OAuthServerConfig,
  publicUrl: string,
): readonly ConfigurationProblem[] {
  const complete = withProfile(features, config);
  return [
    ...features.flatMap((feature) => feature.problems?.(complete, publicUrl) ?? []),
    ...profileProblems(features, config),
  ];
}

/** The problems that the server's profile finds in the configuration. */
export function profileProblems(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly ConfigurationProblem[] {
  const [first, second] = serversOffers(features, config);
  if (first === undefined) return [];
  const twice = ({ name }: ProfileOffer) =>
    `is set to ${first.name}, but another setting selects the profile ${name}; use only one ` +
    'profile';
  return [
    ...first.problems(config),
    ...(second === undefined ? [] : [{ key: 'oauth_server:profile', message: twice(second) }]),
  ];
}

/**
 * Throws a ConfigurationError if the server's profile needs a contribution that no feature adds, or
 * if no feature adds an allowed algorithm for ID tokens.
 */
export function requireNeeds(
  features: readonly Feature[],
  config: OAuthServerConfig,
  contributed: Readonly<Partial<Record<keyof Contribution, unknown>>>,
): void {
  const algorithms = collectAlgorithms(features);
  const problems = serversOffers(features, config).flatMap(({ name, needs, idTokenAlgorithms }) => {
    const lacked: readonly (keyof Contribution | keyof Feature)[] = [
      ...needs.filter((part) => (contributed[part] ?? null) === null),
      ...(idTokenAlgorithms.some((each) => algorithms.has(each))
        ? []
        : (['signingAlgorithms'] as const)),
    ];
    return lacked.map((part) => ({
      key: 'oauth_server:profile',
      message: `is set to ${name}, but no feature provides ${part}; add a feature that provides it`,
    }));
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function offers(features: readonly Feature[]): readonly ProfileOffer[] {
  return features.flatMap(({ profile }) => profile ?? []);
}

function serversOffers(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly ProfileOffer[] {
  return offers(features).filter((offer) => offer.isServers(config));
}
