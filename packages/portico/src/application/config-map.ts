/** A value in the merged configuration. */
export type ConfigValue = unknown;

/**
 * A map in the configuration. In messages, the keys that lead to a value are joined with colons,
 * for example `oauth_server:name`.
 */
export type ConfigMap = { readonly [key: string]: ConfigValue };

/**
 * The environment variables. Variables that are already set in the process override those in
 * `.env`. If `.env.local` exists, it is read instead of `.env`.
 */
export type Environment = Readonly<Record<string, string | undefined>>;
