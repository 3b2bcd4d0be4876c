import { z } from 'zod';
import { coreShape, scopesSchema, type OAuthServerConfig, type OAuthServerConfigInput } from './config.ts';
import type { ConfigShape, Feature } from './feature.ts';
import { featuresWith } from './features.ts';

/** Validates the section `oauth_server`, and fills in its defaults. */
export type OAuthServerConfiguration = z.ZodType<OAuthServerConfig, OAuthServerConfigInput> & {
  /** The schema of each key. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
};

/** The section `oauth_server` of the configuration, with its defaults. Times are in seconds. */
export const oauthServerConfiguration: OAuthServerConfiguration = configurationWith([]);

/**
 * The same with the keys of these features, beside those of Portico's own.
 *
 * @example
 * const config = configurationWith([maintenance]).parse({ name: 'My app', scopes: {}, maintenance:
 * true });
 */
export function configurationWith(own: readonly Feature[]): OAuthServerConfiguration {
  const features = featuresWith(own);
  const keys = merged(features.map(({ config }) => config));
  const ofScopes = merged(features.map(({ scopeConfig }) => scopeConfig));
  const section = z.strictObject({ ...coreShape, scopes: scopesSchema(ofScopes), ...keys });
  return section;
}

function merged(shapes: readonly (ConfigShape | undefined)[]): z.ZodRawShape {
  return Object.assign({}, ...shapes) as z.ZodRawShape;
}
