import type { Migration } from '@portico/sql';
import type { OAuthServerConfig } from '../config.ts';
import type { Feature } from '../feature.ts';
import { featuresWith } from '../features.ts';
import { oauthServerMigrations } from '../store/migrations/index.ts';
import type { MetadataField } from '../store/further-metadata.ts';
import { furtherMetadataMigrations } from '../store/sql/further-metadata.ts';
import { outboxMigrations } from '../store/migrations/outbox.ts';
import { withProfile } from './feature-profiles.ts';

/**
 * Returns all migrations for a server with this configuration: those of every server, and those of
 * the features that are on. `own` contains your own features.
 *
 * @example
 * await migrate(database, migrationsWith(config));
 */
export function migrationsWith(
  config: OAuthServerConfig,
  own: readonly Feature[] = [],
): readonly Migration[] {
  const features = featuresWith(own);
  const complete = withProfile(features, config);
  return [
    ...oauthServerMigrations,
    ...migrationsOfFeatures(features, complete),
    ...(fieldsOfFeatures(features, complete).length > 0 ? furtherMetadataMigrations : []),
    ...(sendsMessages(features, complete) ? outboxMigrations : []),
  ];
}

/** The client metadata fields that features add with this configuration. */
export function fieldsOfFeatures(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly MetadataField[] {
  return features
    .flatMap(({ clientMetadata = [] }) => clientMetadata)
    .filter((field) => field.isOffered(config));
}

/** Returns true if any feature needs the outbox. */
export function sendsMessages(features: readonly Feature[], config: OAuthServerConfig): boolean {
  return features.some((feature) => feature.sendsMessages?.(config) === true);
}

/**
 * Throws unless the name of each migration begins with `oauth_server_`, the name of its feature,
 * and a four-digit number.
 */
function migrationsOfFeatures(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly Migration[] {
  return features.flatMap((feature) => {
    const steps = feature.migrations?.(config) ?? [];
    for (const { name } of steps) {
      const prefix = `oauth_server_${feature.name}_`;
      if (!name.startsWith(prefix) || !NUMBERED.test(name.slice(prefix.length)))
        throw new Error(
          `The feature ${feature.name} adds the migration ${name}; its name must begin with ` +
            `${prefix}0001_ or a higher number`,
        );
    }
    return steps;
  });
}

const NUMBERED = /^\d{4}_[a-z0-9_]+$/;
