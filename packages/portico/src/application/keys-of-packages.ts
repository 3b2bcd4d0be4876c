/** A feature that is a separate package. */
interface PackagedFeature {
  /** The package. */
  readonly name: string;
  /** What it exports. */
  readonly feature: string;
}

/** Keys of the configuration that packages add, whose feature must be listed. */
const KEYS: Readonly<Record<string, PackagedFeature>> = {
  'oauth_server:admin_permission': { name: '@portico/admin', feature: 'administration' },
  'oauth_server:imported_pbkdf2_iterations': { name: '@portico/import', feature: 'importing' },
};

/** What to do about an unknown key of this name. */
export function unknownKeyProblem(key: string): string {
  const found = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  if (found === undefined) return 'is not a known key; remove it';
  return `is a key of ${found.name}; install it, and list its feature: features: [${found.feature}]`;
}
