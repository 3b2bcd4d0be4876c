import { z } from 'zod';
import { unknownKeyProblem } from './application/keys-of-packages.ts';
import {
  coreShape,
  SCOPE_KEYS,
  scopesSchema,
  type OAuthServerConfig,
  type OAuthServerConfigInput,
} from './config.ts';
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
  const keys = getKeys(features, 'config', Object.keys(coreShape));
  const ofScopes = getKeys(features, 'scopeConfig', SCOPE_KEYS);
  const shape = { ...coreShape, scopes: scopesSchema(ofScopes), ...keys };
  return z.strictObject(shape, {
    error: ({ code, keys: unknown }) => (code === 'unrecognized_keys' ? unknownKeys(unknown) : undefined),
  });
}

function unknownKeys(keys: readonly string[]): string {
  return keys.map((key) => `oauth_server:${key} ${unknownKeyProblem(`oauth_server:${key}`)}`).join('; ');
}

/** The keys that these features add to the configuration of an application. */
export function getApplicationKeys(features: readonly Feature[]): ConfigShape {
  return getKeys(features, 'applicationConfig', []);
}

/**
 * The keys that features add, each with its schema. Throws if one of them is taken: its schema
 * would replace a check that something else relies on.
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
        throw new Error(`The feature ${feature.name} adds the configuration key ${key}, which exists`);
      found.set(key, schema);
    }
  }
  return Object.fromEntries(found) as z.ZodRawShape;
}

/** What you write in `branding`. */
export type BrandingInput = OAuthServerConfigInput extends { readonly branding?: infer Given }
  ? NonNullable<Given>
  : never;
