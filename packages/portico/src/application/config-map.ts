/** A value in the merged configuration. */
export type ConfigValue = unknown;

/** A configuration map. Messages show a key as its path, joined by colons: `oauth_server:name`. */
export type ConfigMap = { readonly [key: string]: ConfigValue };

/**
 * The environment variables. Variables of the process override variables in `.env`. If `.env.local`
 * exists, it replaces `.env`.
 */
export type Environment = Readonly<Record<string, string | undefined>>;
