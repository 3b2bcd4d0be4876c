import { ConfigurationError } from '@portico/sql';
import type { OAuthServerConfig } from '../config.ts';
import type { BrandedPlace, Branding, FoundBranding } from '../contracts/branding.ts';
import type { Feature } from '../feature.ts';
import type { CompleteHost } from '../host.ts';

/** The look that a feature gives the pages. */
export function getBranding(
  features: readonly Feature[],
  config: OAuthServerConfig,
  place: BrandedPlace,
): FoundBranding {
  const found = features.map((feature) => feature.branding?.(config, place) ?? null);
  return found.find((each) => each !== null) ?? null;
}

/** The same where only `oauth_server` is known. Throws a ConfigurationError. */
export function brandingWithoutApplication(
  features: readonly Feature[],
  config: OAuthServerConfig,
  basePath: string,
): Branding | null {
  const found = getBranding(features, config, { directory: null, basePath, application: {} });
  if (found !== null && 'problems' in found) throw new ConfigurationError(found.problems);
  return found;
}

/** Every page gets the branding, even if the host renders it. */
export function branded(host: CompleteHost, branding: Branding | null): CompleteHost {
  if (branding === null) return host;
  const { view } = branding;
  return { ...host, render: (name, data) => host.render(name, { branding: view, ...data }) };
}
