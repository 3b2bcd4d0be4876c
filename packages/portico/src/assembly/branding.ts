import { ConfigurationError } from '@portico/sql';
import type { OAuthServerConfig } from '../config.ts';
import type { BrandedPlace, Branding, FoundBranding } from '../pages/branding.ts';
import type { Feature } from '../feature.ts';
import type { CompleteHost } from '../host/host.ts';

/** Returns null if no feature provides a branding. */
export function getBranding(
  features: readonly Feature[],
  config: OAuthServerConfig,
  place: BrandedPlace,
): FoundBranding {
  const found = features.map((feature) => feature.branding?.(config, place) ?? null);
  return found.find((each) => each !== null) ?? null;
}

/**
 * Returns the branding for a server without an application, which has only the section
 * `oauth_server`. Throws a ConfigurationError with all problems.
 */
export function brandingWithoutApplication(
  features: readonly Feature[],
  config: OAuthServerConfig,
  basePath: string,
): Branding | null {
  const found = getBranding(features, config, { directory: null, basePath, application: {} });
  if (found !== null && 'problems' in found) throw new ConfigurationError(found.problems);
  return found;
}

/** Adds the branding to every page, also to pages that the host renders. */
export function branded(host: CompleteHost, branding: Branding | null): CompleteHost {
  if (branding === null) return host;
  const { view } = branding;
  return { ...host, render: (name, data) => host.render(name, { branding: view, ...data }) };
}
