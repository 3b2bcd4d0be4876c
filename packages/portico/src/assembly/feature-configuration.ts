import { z } from 'zod';
import { unknownKeyProblem } from '../application/keys-of-packages.ts';
import {
  coreShape,
  SCOPE_KEYS,
  scopesSchema,
  type OAuthServerConfig,
  type OAuthServerConfigInput,
} from '../config.ts';
import type { ConfigShape, Feature } from '../feature.ts';
import { featuresWith } from '../features.ts';

/** The type of a schema that validates the section `oauth_server` and fills in default values. */
export type OAuthServerConfiguration = z.ZodType<OAuthServerConfig, OAuthServerConfigInput> & {
  /** The schemas of the configuration keys, by key. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
};

/**
 * The schema of the section `oauth_server`. It fills in default values. Times are in seconds.
 * `parse` throws zod's error. `startApplication` reports all problems in a ConfigurationError
 * instead.
 *
 * @example
 * const config = oauthServerConfiguration.parse({ name: 'Shop', scopes, key_path });
 */
export const oauthServerConfiguration: OAuthServerConfiguration = configurationWith([]);

/**
 * Returns a schema like `oauthServerConfiguration` that also accepts the keys of your own features.
 *
 * @example
 * const config = configurationWith([maintenance]).parse({ name: 'Shop', scopes });
 */
export function configurationWith(own: readonly Feature[]): OAuthServerConfiguration {
  const features = featuresWith(own);
  const keys = getKeys(features, 'config', Object.keys(coreShape));
  const ofScopes = getKeys(features, 'scopeConfig', SCOPE_KEYS);
  const shape = { ...coreShape, scopes: scopesSchema(ofScopes), ...keys };
  return z.strictObject(shape, {
    error: ({ code, keys: unknown }) =>
      code === 'unrecognized_keys' ? unknownKeys(unknown) : undefined,
  });
}

function unknownKeys(keys: readonly string[]): string {
  return keys
    .map((key) => `oauth_server:${key} ${unknownKeyProblem(`oauth_server:${key}`)}`)
    .join('; ');
}

/** The top-level configuration keys that these features add to an application. */
export function getApplicationKeys(features: readonly Feature[]): ConfigShape {
  return getKeys(features, 'applicationConfig', []);
}

/**
 * Returns the schemas of the keys that features add. Throws if a key already exists, because a
 * second schema would replace the first.
 */
function getKeys(
  features: readonly Feature[],
  part: 'config' | 'applicationConfig' | 'scopeConfig',
  core: readonly string[],
): z.ZodRawShape {
  const found = new Map<string, unknown>();
  for (const feature of features) {
    for (const [key, schema] of Object.entries(feature[part] ?? {})) {
      if (core.includes(key) || found.has(key))
        throw new Error(
          `The feature ${feature.name} adds the configuration key ${key}, which already exists`,
        );
      found.set(key, schema);
    }
  }
  return Object.fromEntries(found) as z.ZodRawShape;
}

/** The type of the configuration key `branding`. */
export type BrandingInput = OAuthServerConfigInput extends { readonly branding?: infer Given }
  ? NonNullable<Given>
  : never;
