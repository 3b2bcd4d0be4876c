/** A value in the merged configuration. */
export type ConfigValue = unknown;

/**
 * A map in the configuration. Messages join the keys of a value with colons, for example
 * `oauth_server:name`.
 */
export type ConfigMap = { readonly [key: string]: ConfigValue };

/**
 * The environment variables. Variables of the process override those in `.env`. `.env.local`
 * replaces `.env` if it exists.
 */
export type Environment = Readonly<Record<string, string | undefined>>;
