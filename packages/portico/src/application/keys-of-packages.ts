/** A feature that a separate package provides. */
interface PackagedFeature {
  /** The package's name. */
  readonly name: string;
  /** The name under which the package exports the feature. */
  readonly feature: string;
}

/**
 * The configuration keys that separate packages add. A key is valid only if the application lists
 * the package's feature in `features`.
 */
const KEYS: Readonly<Record<string, PackagedFeature>> = {
  'oauth_server:admin_permission': { name: '@portico/admin', feature: 'administration' },
  'oauth_server:imported_pbkdf2_iterations': { name: '@portico/import', feature: 'importing' },
};

/** Returns the message for an unknown configuration key. */
export function unknownKeyProblem(key: string): string {
  const found = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  if (found === undefined) return 'is not a known key; remove it';
  return (
    `needs the package ${found.name}; install it and pass features: [${found.feature}] to ` +
    'oauthServer()'
  );
}
