/**
 * The types that let the editor and the compiler check a configuration. This file contains only
 * types.
 */
import type { ApplicationDefinition } from './definition.ts';
import type { Environment } from './config-map.ts';
import type { Plugin } from './plugin.ts';
import type { ConfigSchema } from '../config.ts';

/** The kit's own configuration keys. A missing or undefined key gets its default. */
export interface KitConfigInput {
  /**
   * The public origin without a path: `https://app.example.com`. The issuer is this origin plus
   * `base_path`. Needed.
   */
  readonly public_url?: string | undefined;
  /** The path prefix of every endpoint, such as `/auth`. Default: none. */
  readonly base_path?: string | undefined;
  /** Whether a proxy removes `base_path` before a request arrives. Default: false. */
  readonly base_path_stripped?: boolean | undefined;
  /**
   * The application's display name if `oauth_server:name` is not set. Default: the host of
   * `public_url`.
   */
  readonly name?: string | undefined;
  /**
   * The routes that skip the session-wide CSRF check, by name. Plugins add their routes. Set a name
   * to false to check the route.
   */
  readonly csrf_exempt_routes?: Readonly<Record<string, boolean | undefined>> | undefined;
  /**
   * The store: `sqlite:<file>`, `postgres://…` (several servers: `postgres://…@one,other/…`) or
   * `mysql://…`. Default: `DATABASE_URL`, or SQLite in the storage directory.
   */
  readonly database_url?: string | undefined;
  /**
   * PostgreSQL only: the schema of Portico's tables. The migration creates it. Without this
   * setting, the connection's `search_path` selects the schema. Default: none.
   */
  readonly database_schema?: string | undefined;
  /** The maximum number of connections that Portico opens to a database server. Default: 10. */
  readonly database_pool_size?: number | undefined;
  /** How long Portico uses one connection to a server, in seconds. Default: 300. */
  readonly database_connection_lifetime?: number | undefined;
  /** The maximum duration of a statement on a database server, in seconds. Default: 10. */
  readonly database_statement_timeout?: number | undefined;
  /**
   * The maximum size of a body for the application's own routes, in bytes. Larger bodies get a 413
   * response. Default: 1048576.
   */
  readonly body_limit?: number | undefined;
  /** How many proxies in front of the server append to `X-Forwarded-For`. Default: 0. */
  readonly trusted_proxies?: number | undefined;
  /** How long a session lives after its last use, in seconds. Default: 1209600. */
  readonly session_ttl?: number | undefined;
  /**
   * Whether the kit's sign-in page may run scripts with its nonce, for example a passkey script in
   * a slot. The scripts can send requests only to this origin. Default: false.
   */
  readonly sign_in_scripts?: boolean | undefined;
  /**
   * Whether the kit's sign-in page has a button that shows the password. The button needs a Portico
   * script, and this setting allows only that script. Default: false.
   */
  readonly sign_in_show_password?: boolean | undefined;
  /** Links below the form of the kit's sign-in page: https URLs or paths on this origin. */
  readonly sign_in_links?: SignInLinksInput | undefined;
  /** The log. */
  readonly log?: LogConfigInput | undefined;
}

/** The section `sign_in_links` of the configuration. */
export interface SignInLinksInput {
  /** The target of the link "Forgot your password?". Default: none. */
  readonly forgot_password?: string | undefined;
  /** The target of the link "Terms". Default: none. */
  readonly terms?: string | undefined;
}

/** The section `log` of the configuration. */
export interface LogConfigInput {
  /**
   * The file, relative to the application's folder, or `-` for standard output. Default:
   * `logs/app.log`.
   */
  readonly path?: string | undefined;
  /** The lowest level that the log contains. Default: `info`. */
  readonly level?: 'debug' | 'info' | 'warning' | 'error' | undefined;
}

/**
 * The complete configuration of an application, with the application's own sections and the
 * sections of these plugins.
 */
export type ConfigInput<
  Plugins extends readonly Plugin[],
  Own extends object = NoSections,
> = KitConfigInput & Given<Own> & Together<SectionsOf<Plugins[number]>>;

/** The parameter of `defineApplication`. The compiler checks configuration keys at every depth. */
export type ApplicationInput<
  Plugins extends readonly Plugin[],
  Own extends object,
  Returned,
  Definition = ApplicationDefinition,
> = Omit<Definition, 'config' | 'plugins' | 'configuration' | 'framework'> &
  CheckedInput<Plugins, Own, Returned>;

/** The properties of a definition from which TypeScript infers the types. */
export interface CheckedInput<Plugins extends readonly Plugin[], Own extends object, Returned> {
  /**
   * The configuration of the application: a map, or a function that receives the environment. It
   * overrides the plugins' defaults.
   */
  readonly config:
    | (ConfigInput<NoInfer<Plugins>, NoInfer<Own>> & NoSections)
    | ((
        env: Environment,
      ) => Returned & Checked<Returned, ConfigInput<NoInfer<Plugins>, NoInfer<Own>>>);
  /**
   * The plugins, in order. A later plugin's defaults override an earlier plugin's. Each plugin adds
   * the types of its sections.
   */
  readonly plugins?: Plugins;
  /** The schemas of the application's own top-level keys. They determine the keys' types. */
  readonly configuration?: { readonly [Section in keyof Own]: ConfigSchema<unknown, Own[Section]> };
}

/**
 * A type without sections. It rejects functions, which TypeScript would otherwise accept as empty
 * maps.
 */
export interface NoSections {
  /** Every function has this property, so no function matches this type. */
  readonly [Symbol.hasInstance]?: never;
}

type SectionsOf<P> = P extends Plugin<infer Sections> ? Given<Sections> : never;

/** Turns a union into an intersection. Without plugins, the result is `unknown`. */
type Together<Union> = [Union] extends [never]
  ? unknown
  : (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
    ? All
    : never;

/**
 * Makes every property optional, at every depth, because the defaults fill them in. Portico reports
 * missing values when it starts. Types that are already optional keep their names.
 */
type Given<T> = string extends keyof T ? T : Optional<T>;

type Optional<T> =
  Partial<T> extends T
    ? T
    : T extends readonly (infer Element)[]
      ? readonly Element[]
      : T extends (...args: never[]) => unknown
        ? T
        : T extends object
          ? { readonly [Key in keyof T]?: Optional<T[Key]> | undefined }
          : T;

/**
 * The type of an unknown key. No value matches it, and the compiler's error message contains the
 * key.
 */
type UnknownKey<Path extends string> = `${Path} is not a known key of the configuration`;

/**
 * The type `Value` with every unknown key forbidden. TypeScript itself finds unknown keys only in
 * object literals, not in the return value of a function.
 */
type Checked<Value, Known, Path extends string = ''> = unknown extends Known
  ? unknown
  : Value extends readonly unknown[] | ((...args: never[]) => unknown)
    ? unknown
    : Value extends object
      ? Extract<Known, object> extends infer Shape extends object
        ? {
            // If the type of a map allows any string as key, do not check its keys. For example, a
            // function may return such a map.
            readonly [Key in keyof Value]: string extends Key
              ? unknown
              : Key extends KeysOf<Shape>
                ? Checked<Value[Key], ValueOf<Shape, Key>, `${Path}${Key & string}:`>
                : UnknownKey<`${Path}${Key & string}`>;
          }
        : unknown
      : unknown;

/** The keys of all types in a union. */
type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never;
type ValueOf<Shape, Key> = Shape extends unknown
  ? Key extends keyof Shape
    ? Shape[Key]
    : never
  : never;
