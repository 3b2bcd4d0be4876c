/** A value in the merged configuration. */
export type ConfigValue = unknown;

/** A configuration map. Messages name a key by its path, joined by colons: `oauth_server:name`. */
export type ConfigMap = { readonly [key: string]: ConfigValue };

/**
 * The values of the environment. The process's values override those of `.env`. If `.env.local`
 * exists, it replaces `.env`.
 */
export type Environment = Readonly<Record<string, string | undefined>>;
