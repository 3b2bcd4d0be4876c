/**
 * The types with which editors and TypeScript check a configuration. This file contains only types.
 */
import type { ApplicationDefinition } from './definition.ts';
import type { Environment } from './config-map.ts';
import type { Plugin } from './plugin.ts';
import type { ConfigSchema } from '../config.ts';

/** The kit's configuration keys. A missing or undefined key gets its default value. */
export interface KitConfigInput {
  /**
   * The public origin, without a path: `https://app.example.com`. The issuer is this origin plus
   * `base_path`. Required.
   */
  readonly public_url?: string | undefined;
  /** The path prefix of all endpoints, such as `/auth`. Default: none. */
  readonly base_path?: string | undefined;
  /** Whether a proxy removes `base_path` from the path of each request. Default: false. */
  readonly base_path_stripped?: boolean | undefined;
  /**
   * The name of the application on the kit's own pages. Default: `oauth_server:name`, or the host
   * of `public_url` if that is not set either.
   */
  readonly name?: string | undefined;
  /**
   * The routes that the CSRF check of the session skips. Each key is the name of a route. Plugins
   * add their own routes. If you set a route to false, it is checked.
   */
  readonly csrf_exempt_routes?: Readonly<Record<string, boolean | undefined>> | undefined;
  /**
   * The database: `sqlite:<file>`, `postgres://…` (or `postgres://…@one,other/…` for several
   * servers) or `mysql://…`. Default: `DATABASE_URL`, or a SQLite file in the storage folder.
   */
  readonly database_url?: string | undefined;
  /**
   * The PostgreSQL schema for Portico's tables. The migration creates it. Without this setting, the
   * `search_path` of the connection determines the schema. Only for PostgreSQL. Default: none.
   */
  readonly database_schema?: string | undefined;
  /** The maximum number of connections that Portico opens to a database server. Default: 10. */
  readonly database_pool_size?: number | undefined;
  /**
   * How long Portico uses a connection to a database server before it opens a new one, in seconds.
   * Default: 300.
   */
  readonly database_connection_lifetime?: number | undefined;
  /** The maximum duration of one statement on a database server, in seconds. Default: 10. */
  readonly database_statement_timeout?: number | undefined;
  /**
   * The maximum size of a request body for the application's own routes, in bytes. A larger body
   * gets a 413 response. Default: 1048576.
   */
  readonly body_limit?: number | undefined;
  /** The number of proxies in front of the server that append to `X-Forwarded-For`. Default: 0. */
  readonly trusted_proxies?: number | undefined;
  /**
   * How long a session lasts after its last use, in seconds. Without a signed-in user, it lasts at
   * most two hours. Default: 1209600.
   */
  readonly session_ttl?: number | undefined;
  /**
   * Whether scripts with the page's nonce may run on the kit's sign-in page, for example a passkey
   * script in a slot. They can send requests only to this origin. Default: false.
   */
  readonly sign_in_scripts?: boolean | undefined;
  /**
   * Whether the kit's sign-in page has a button that shows the password. The button needs a script
   * of Portico, and this setting allows only that script. Default: false.
   */
  readonly sign_in_show_password?: boolean | undefined;
  /**
   * The links below the form on the kit's sign-in page. Each is an https URL or a path on this
   * origin.
   */
  readonly sign_in_links?: SignInLinksInput | undefined;
  /** The settings of the log. */
  readonly log?: LogConfigInput | undefined;
}

/** The settings in the section `sign_in_links`. */
export interface SignInLinksInput {
  /** The URL or path of the link "Forgot your password?". Default: none. */
  readonly forgot_password?: string | undefined;
  /** The URL or path of the link "Terms". Default: none. */
  readonly terms?: string | undefined;
}

/** The settings in the section `log`. */
export interface LogConfigInput {
  /**
   * The path of the log file, relative to the application's folder. Use `-` for standard output.
   * Default: `logs/app.log`.
   */
  readonly path?: string | undefined;
  /** The lowest level of messages that are logged. Default: `info`. */
  readonly level?: 'debug' | 'info' | 'warning' | 'error' | undefined;
}

/**
 * The complete configuration of an application. It includes the application's own sections and the
 * sections of these plugins.
 */
export type ConfigInput<
  Plugins extends readonly Plugin[],
  Own extends object = NoSections,
> = KitConfigInput & Given<Own> & Together<SectionsOf<Plugins[number]>>;

/**
 * The parameter of `defineApplication`. TypeScript checks the configuration keys at every depth.
 */
export type ApplicationInput<
  Plugins extends readonly Plugin[],
  Own extends object,
  Returned,
  Definition = ApplicationDefinition,
> = Omit<Definition, 'config' | 'plugins' | 'configuration' | 'framework'> &
  CheckedInput<Plugins, Own, Returned>;

/** The properties of an application definition from which TypeScript infers the other types. */
export interface CheckedInput<Plugins extends readonly Plugin[], Own extends object, Returned> {
  /**
   * The configuration of the application, or a function that receives the environment and returns
   * it. It overrides the plugins' defaults.
   */
  readonly config:
    | (ConfigInput<NoInfer<Plugins>, NoInfer<Own>> & NoSections)
    | ((
        env: Environment,
      ) => Returned & Checked<Returned, ConfigInput<NoInfer<Plugins>, NoInfer<Own>>>);
  /**
   * The plugins, in order. If two plugins set the same default, the later plugin's default applies.
   * Each plugin adds the types of its sections.
   */
  readonly plugins?: Plugins;
  /**
   * The schemas of the application's own top-level keys. TypeScript infers the types of these keys
   * from them.
   */
  readonly configuration?: { readonly [Section in keyof Own]: ConfigSchema<unknown, Own[Section]> };
}

/**
 * The type of an object without sections. It does not accept functions, which TypeScript would
 * otherwise accept as empty objects.
 */
export interface NoSections {
  /** Every function has this property, so this type accepts no function. */
  readonly [Symbol.hasInstance]?: never;
}

type SectionsOf<P> = P extends Plugin<infer Sections> ? Given<Sections> : never;

/** Converts a union type to an intersection. If there are no plugins, the result is `unknown`. */
type Together<Union> = [Union] extends [never]
  ? unknown
  : (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
    ? All
    : never;

/**
 * Makes all properties optional, at every depth, because defaults can fill them in. Portico reports
 * missing values when the application starts. Types that are already optional keep their names.
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
 * The type for an unknown key. No value has this type, so TypeScript reports an error that contains
 * the key.
 */
type UnknownKey<Path extends string> = `${Path} is not a known key of the configuration`;

/**
 * The type `Value`, except that every unknown key is an error. TypeScript itself reports unknown
 * keys only in object literals, not in what a function returns.
 */
type Checked<Value, Known, Path extends string = ''> = unknown extends Known
  ? unknown
  : Value extends readonly unknown[] | ((...args: never[]) => unknown)
    ? unknown
    : Value extends object
      ? Extract<Known, object> extends infer Shape extends object
        ? {
            // Do not check the keys of a map whose type allows any string as a key. For example, a
            // function may return such a map.
            readonly [Key in keyof Value]: string extends Key
              ? unknown
              : Key extends KeysOf<Shape>
                ? Checked<Value[Key], ValueOf<Shape, Key>, `${Path}${Key & string}:`>
                : UnknownKey<`${Path}${Key & string}`>;
          }
        : unknown
      : unknown;

/** The keys of all members of a union type. */
type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never;
type ValueOf<Shape, Key> = Shape extends unknown
  ? Key extends keyof Shape
    ? Shape[Key]
    : never
  : never;
