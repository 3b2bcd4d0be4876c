/** A feature in a separate package. */
interface PackagedFeature {
  /** The package's name. */
  readonly name: string;
  /** The name of the exported feature. */
  readonly feature: string;
}

/**
 * The configuration keys of features in separate packages. A key works only if the application
 * lists the package's feature in `features`.
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
