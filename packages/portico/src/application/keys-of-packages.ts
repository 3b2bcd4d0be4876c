interface PackagedFeature {
  readonly name: string;
  /** The name under which the package exports the feature. */
  readonly feature: string;
}

/**
 * Separate packages add these keys. The application must list the package's feature in `features`.
 */
const KEYS: Readonly<Record<string, PackagedFeature>> = {
  'oauth_server:admin_permission': { name: '@portico/admin', feature: 'administration' },
  'oauth_server:imported_pbkdf2_iterations': { name: '@portico/import', feature: 'importing' },
};

export function unknownKeyProblem(key: string): string {
  const found = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  if (found === undefined) return 'is not a known key; remove it';
  return (
    `needs the package ${found.name}; install it and pass features: [${found.feature}] to ` +
    'oauthServer()'
  );
}
