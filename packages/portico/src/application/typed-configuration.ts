/** The configuration as an editor and a compiler see it where it is written. Types only. */
import type { ApplicationDefinition, Environment, Plugin } from './contracts.ts';
import type { ZodType } from 'zod';
import type { BrandingInput } from '../defaults/branding/branding.ts';

/** The kit's own keys of the configuration. What is left out, or undefined, has its default. */
export interface KitConfigInput {
  /** The public origin, without a path: `https://app.example.com`. With `base_path` behind it, it is the issuer. Needed. */
  readonly public_url?: string | undefined;
  /** The path that every endpoint lies below, such as `/auth`; none. */
  readonly base_path?: string | undefined;
  /** Whether a proxy takes `base_path` away before a request arrives; false. */
  readonly base_path_stripped?: boolean | undefined;
  /** The application's name for people, where there is no `oauth_server:name`; the host of `public_url`. */
  readonly name?: string | undefined;
  /** Routes by name that the session-wide CSRF check leaves alone; the plugins add theirs, false takes one away. */
  readonly csrf_exempt_routes?: Readonly<Record<string, boolean | undefined>> | undefined;
  /** The store: `sqlite:<file>`, `postgres://…` (of several servers `postgres://…@one,other/…`) or `mysql://…`; `DATABASE_URL`, or SQLite in the storage directory. */
  readonly database_url?: string | undefined;
  /** PostgreSQL: the schema that Portico's tables are in, which the migration makes; where the `search_path` leads. */
  readonly database_schema?: string | undefined;
  /** How many connections Portico opens to a database server at most; 10. */
  readonly database_pool_size?: number | undefined;
  /** Seconds that a connection to a server is used at most; 300. */
  readonly database_connection_lifetime?: number | undefined;
  /** Seconds that a statement on a server may take; 10. */
  readonly database_statement_timeout?: number | undefined;
  /** The largest body that the application's own routes are given, in bytes; a larger one is 413. 1048576. */
  readonly body_limit?: number | undefined;
  /** How many proxies in front append to `X-Forwarded-For`; 0. */
  readonly trusted_proxies?: number | undefined;
  /** How long a session lives after its last use, in seconds; 1209600. */
  readonly session_ttl?: number | undefined;
  /** How the pages look: a logo and an accent colour; as Portico has it. */
  readonly branding?: BrandingInput | undefined;
  /**
   * Whether the kit's sign-in page runs scripts that have its nonce, such as one for passkeys in a slot of it, which may ask this origin
   * alone; false.
   */
  readonly sign_in_scripts?: boolean | undefined;
  /** Whether the kit's sign-in page has a button that shows the password, with a script of Portico, the only one that this allows; false. */
  readonly sign_in_show_password?: boolean | undefined;
  /** Links below the form of the kit's sign-in page, each an https URL or a path of this origin. */
  readonly sign_in_links?: SignInLinksInput | undefined;
  /** The log. */
  readonly log?: LogConfigInput | undefined;
}

/** The section `sign_in_links` of the configuration. */
export interface SignInLinksInput {
  /** "Forgot your password?": where people get a new one; none. */
  readonly forgot_password?: string | undefined;
  /** "Terms": where they are; none. */
  readonly terms?: string | undefined;
}

/** The section `log` of the configuration. */
export interface LogConfigInput {
  /** The file, from the application's folder, or `-` for standard output; `logs/app.log`. */
  readonly path?: string | undefined;
  /** The least level that is written; `info`. */
  readonly level?: 'debug' | 'info' | 'warning' | 'error' | undefined;
}

/** All that the configuration of an application with these plugins, and with these sections of its own, may hold. */
export type ConfigInput<Plugins extends readonly Plugin[], Own extends object = NoSections> = KitConfigInput &
  Given<Own> &
  Together<SectionsOf<Plugins[number]>>;

/** What `defineApplication` takes: the configuration is checked where it is written, key by key, at every depth. */
export type ApplicationInput<
  Plugins extends readonly Plugin[],
  Own extends object,
  Returned,
  Definition = ApplicationDefinition,
> = Omit<Definition, 'config' | 'plugins' | 'configuration' | 'framework'> &
  CheckedInput<Plugins, Own, Returned>;

/** The parts of a definition that its types depend on. */
export interface CheckedInput<Plugins extends readonly Plugin[], Own extends object, Returned> {
  /** The application's configuration, over the plugins' defaults: a map, or a function of the environment. */
  readonly config:
    | (ConfigInput<NoInfer<Plugins>, NoInfer<Own>> & NoSections)
    | ((env: Environment) => Returned & Checked<Returned, ConfigInput<NoInfer<Plugins>, NoInfer<Own>>>);
  /** In their order: a later one's defaults go over those of an earlier one. Each brings the types of its sections. */
  readonly plugins?: Plugins;
  /** How each top-level key of the application's own is validated: its types are taken from there. */
  readonly configuration?: { readonly [Section in keyof Own]: ZodType<unknown, Own[Section]> };
}

/** No sections at all; and no function, which would pass for a map of which everything is left out. */
export interface NoSections {
  /** A function has it. */
  readonly [Symbol.hasInstance]?: never;
}

type SectionsOf<P> = P extends Plugin<infer Sections> ? Given<Sections> : never;

/** All of a union at once. Without plugins there is nothing to add. */
type Together<Union> = [Union] extends [never]
  ? unknown
  : (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
    ? All
    : never;

/**
 * What may be left out, at every depth, since defaults lie below it; what is missing in the end is reported at the start. Types
 * in which everything may be left out stay what they are, with their names.
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

/** What a key that nobody knows must be: nothing can be, and the compiler's message ends with the key's name. */
type UnknownKey<Path extends string> = `${Path} is not a known key of the configuration`;

/**
 * The same shape with every unknown key made impossible. TypeScript looks for them in a literal alone, and not in what a
 * function returns.
 */
type Checked<Value, Known, Path extends string = ''> = unknown extends Known
  ? unknown
  : Value extends readonly unknown[] | ((...args: never[]) => unknown)
    ? unknown
    : Value extends object
      ? Extract<Known, object> extends infer Shape extends object
        ? {
            // A map of which no key is known, as a function returns one that says so.
            readonly [Key in keyof Value]: string extends Key
              ? unknown
              : Key extends KeysOf<Shape>
                ? Checked<Value[Key], ValueOf<Shape, Key>, `${Path}${Key & string}:`>
                : UnknownKey<`${Path}${Key & string}`>;
          }
        : unknown
      : unknown;

/** The keys of all members of a union. */
type KeysOf<Shape> = Shape extends unknown ? keyof Shape : never;
type ValueOf<Shape, Key> = Shape extends unknown ? (Key extends keyof Shape ? Shape[Key] : never) : never;
