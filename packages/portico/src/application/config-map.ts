/** A value in the merged configuration. */
export type ConfigValue = unknown;

/**
 * A map of the configuration. Messages join the keys on the path to a value with colons, for
 * example `oauth_server:name`.
 */
export type ConfigMap = { readonly [key: string]: ConfigValue };

/**
 * The environment variables. Variables of the process override those in `.env`. If `.env.local`
 * exists, it is read instead of `.env`.
 */
export type Environment = Readonly<Record<string, string | undefined>>;
