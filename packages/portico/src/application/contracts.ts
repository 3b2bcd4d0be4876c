/**
 * The contracts between an application, its plugins and its console. This file contains only types.
 */
import type {
  BegunStep,
  BorrowedDatabase,
  ConfigurationProblem,
  Log,
  Migration,
  MigrationState,
  OpenedDatabase,
} from '@portico/sql';
import type { Speaking, SpeakingOptions } from '../words/speaking.ts';
import type { Command } from 'commander';
import type { ConfigSchema } from '../config.ts';
import type { PasswordHasher } from '../defaults/password-hasher.ts';
import type { Telemetry } from '../measuring.ts';
import type { WaitingFor } from '../authorization/waiting-for.ts';
import type { BrandedPlace, Branding, FoundBranding } from '../branding.ts';
import type { ClosableLog } from '../defaults/log.ts';
import type { Views } from '../defaults/views.ts';
import type { CompleteHost } from '../host.ts';
import type { KitConfig } from './keys.ts';

export type { ConfigurationProblem } from '@portico/sql';
export type { Views } from '../defaults/views.ts';
export type { ViewProblem } from '../defaults/view-errors.ts';

/** A value in the merged configuration. */
export type ConfigValue = unknown;
/** A configuration map. Messages name a key by its path, joined by colons: `oauth_server:name`. */
export type ConfigMap = { readonly [key: string]: ConfigValue };
/**
 * The values of the environment. The process's values override those of `.env`. If `.env.local`
 * exists, it replaces `.env`.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

// --- a request -----------------------------------------------------------------------------------

/**
 * The values of a path's placeholders by name, percent-decoded. For `/api/articles/{id}`, this is
 * `{ id }`.
 */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Receives the placeholders by name: `({ id }) => ...`. */
export type RouteHandler = (
  parameters: RouteParameters,
  request: Request,
) => Response | Promise<Response>;

/**
 * An HTTP method that a route can handle. A HEAD request runs as GET, and its response has no body.
 */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A named route. Names are unique in an application. A route may have several methods. */
export interface Route {
  /** The route's name, such as `api.notes.index`. `path()` and `csrf_exempt_routes` use it. */
  readonly name: string;
  /**
   * The methods that the route handles. Requests to its path with other methods get a 405 response.
   */
  readonly methods: readonly HttpMethod[];
  /**
   * If true, the route rejects each of its methods with 405. The header `Allow` does not list them.
   */
  readonly refusesMethods?: true;
  /** An absolute path, with placeholders in braces: `/api/articles/{id}`. */
  readonly path: string;
  /**
   * If true, Portico leaves this route out when another route has the same path, with any method.
   * Only plugin routes can set this.
   */
  readonly yields?: true;
  /**
   * If true, the route reads no session. The session-wide CSRF check then applies only if
   * `csrf_exempt_routes` has false for the route.
   */
  readonly readsNoSession?: true;
  /** Handles the request. `ErrorHandler` turns exceptions into responses. */
  readonly handler: RouteHandler;
}

/**
 * Wraps every route of the application, but no plugin routes. The first middleware is the
 * outermost.
 */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;

// --- the application -----------------------------------------------------------------------------

/** The application's events, by name. */
export interface Events {
  /**
   * Adds a listener. A listener to one of the two host hooks can replace the response: its return
   * value is the new response.
   */
  on(event: string, listener: (payload: never) => unknown): void;
  /**
   * Calls the listeners in order. If one fails, Portico logs the error and calls the remaining
   * ones.
   */
  emit(event: string, payload: unknown): Promise<void>;
}

/** Data about a request's connection. */
export interface Connection {
  /** The remote address, such as `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request target as the client sent it. Defaults to the URL's path. A URL parser resolves dot
   * segments and backslashes, so only this value shows whether the path matches a route exactly.
   */
  readonly target?: string;
}

/** A started application, as plugins, commands and route handlers see it. */
export interface Application {
  /** The absolute path of the application's folder. */
  readonly directory: string;
  /**
   * The absolute path of the folder for the application's files. This is `STORAGE_DIR`, or
   * `storage` in the application's folder.
   */
  readonly storageDirectory: string;
  /** The environment. The process's values override those of `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. Defaults to `prod`. */
  readonly mode: 'dev' | 'prod';
  /** The validated configuration, with its defaults. Each plugin reads its own section. */
  readonly config: ConfigMap;
  /**
   * The origin of `public_url`, such as `https://app.example.com`. Followed by `basePath`, it is
   * the issuer.
   */
  readonly publicUrl: string;
  /**
   * The `base_path` setting: empty, or a path such as `/auth`. The endpoints of plugins and the
   * kit's pages are below it. The application's own routes keep their paths. With
   * `base_path_stripped`, a proxy removes the base path, so all routes are below it.
   */
  readonly basePath: string;
  /** The store: the one that `database_url` names, or a store on the application's own pool. */
  readonly database: OpenedDatabase;
  /**
   * The limits of Portico's own connections to a database server, from `database_pool_size` and
   * `database_connection_lifetime`. Null if Portico opens no such connections.
   */
  readonly pool: { readonly size: number; readonly lifetime: number } | null;
  /** Returns every schema migration of the application and its plugins, in order. */
  migrations(): Promise<readonly MigrationState[]>;
  /**
   * Returns the SQL of the missing migrations, so that you can apply them with another tool.
   * Changes nothing. The text is empty if no migration is missing.
   */
  printMigrations(): Promise<string>;
  /**
   * Applies the missing migrations, or only those that `only` accepts. Returns their names. Calls
   * `onStep` before each migration.
   */
  migrate(
    only?: (name: string) => boolean,
    onStep?: (step: BegunStep) => void,
  ): Promise<readonly string[]>;
  /** Hashes client secrets. Account providers get another hasher, which has a separate queue. */
  readonly passwordHasher: PasswordHasher;
  /** Finds views. Looks first in the application, then in the plugins, and then in the kit. */
  readonly views: Views;
  /** Chooses the page language for each request. */
  readonly speaking: Speaking;
  /** The branding of pages. Null if `branding` is empty. */
  readonly branding: Branding | null;
  /** The application's events. Add listeners while the application registers its parts. */
  readonly events: Events;
  /** The log that `log:path` configures. */
  readonly log: Log;
  /** Receives the plugins' measurements. Null if the application does not use telemetry. */
  readonly telemetry: Telemetry | null;
  /** Objects that plugins offer to others, by name, such as `oauth_server`. */
  readonly services: Map<string, unknown>;
  /**
   * Adds a route. Throws if another route has the same name, or the same path and method. You can
   * call this only while plugins register.
   */
  route(route: Route): void;
  /**
   * Wraps the application's own routes. You can call this only while plugins register.
   */
  middleware(middleware: Middleware): void;
  /**
   * Returns the path of a named route, as browsers request it. Fills in the placeholders,
   * percent-encoded. Throws for an unknown name.
   */
  path(name: string, parameters?: RouteParameters): string;
  /** Whether a route with this name exists. */
  hasRoute(name: string): boolean;
  /** Answers a request. Every request to the application goes through this method. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Returns the client address of the current request. This is the address of the connection. With
   * `trusted_proxies`, it is the address that this many proxies report in `X-Forwarded-For`.
   * Returns null if it is unknown. Throws outside of a request.
   */
  clientAddress(): string | null;
  /** Runs this work when the application closes, before the store and the log are closed. */
  onClose(work: () => Promise<void>): void;
  /** Waits at most ten seconds for running requests. After that, closes the store and the log. */
  close(): Promise<void>;
  /**
   * Returns the framework's accounts and sessions. Null in an application that mounts Portico.
   * `signIn` is the path of the sign-in page, or the name of its route.
   */
  readonly host: ((signIn: string) => FrameworkHost) | null;
}

/**
 * The host methods for accounts and browsers, which a framework provides. The application provides
 * the other methods.
 */
export type FrameworkHost = Pick<
  CompleteHost,
  | 'signedIn'
  | 'loadAccount'
  | 'holdsPermission'
  | 'findPeople'
  | 'browserSecret'
  | 'signOut'
  | 'endSession'
  | 'loginUrl'
  | 'authenticatedAt'
  | 'sessionId'
  | 'reauthenticateUrl'
>;

/** The configuration that an application starts with. */
export interface Configuration {
  /** The environment. The process's values override those of `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. */
  readonly mode: Application['mode'];
  /** The absolute path of the folder for the application's files. */
  readonly storageDirectory: string;
  /** The whole validated configuration, with its defaults. */
  readonly config: ConfigMap;
  /** The kit's own settings. */
  readonly kit: KitConfig;
  /** The branding of pages. Null means Portico's own design. */
  readonly branding: Branding | null;
}

/** The configuration and resources that an application starts with. */
export interface ApplicationParts {
  /** The application's definition. */
  readonly definition: ApplicationDefinition;
  /** The application's configuration. */
  readonly configuration: Configuration;
  /** The open log of `log:path`. */
  readonly log: ClosableLog;
  /** The open store. */
  readonly database: OpenedDatabase;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a number that is at least 0 and less than 1. */
  readonly random: () => number;
}

/**
 * Builds a standalone application with accounts, sessions and routes from a definition.
 * `@portico/kit` implements this interface.
 */
export interface Framework {
  /** Returns the framework's migrations that the definition needs. */
  migrations(definition: ApplicationDefinition): readonly Migration[];
  /** Returns the framework's console commands, such as `serve`. */
  commands(plugins: readonly Plugin[]): readonly AddCommands[];
  /** Builds the application and registers its parts. */
  start(parts: ApplicationParts): Promise<Application>;
}

/**
 * The context of a console command. Print data on standard output, and everything else on standard
 * error.
 */
export interface ConsoleContext {
  /**
   * Starts the application once. Throws a ConfigurationError that names every problem. If
   * `log:path` is `-`, the log goes to standard error, because the command prints its data on
   * standard output. With `serves`, the log goes to standard output.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data on standard output. */
  print(line: string): void;
  /** Prints a JSON document on standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the person at the console, on standard error. */
  note(line: string): void;
  /**
   * Runs long work and shows its progress on standard error. `what` describes the work, such as
   * `Removing expired rows`. Returns the result of the work, or rejects with its error.
   *
   * A terminal shows one line that is updated. Elsewhere, Portico prints a line every five seconds,
   * and no line for shorter work.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /**
   * Ends the command with one clear line on standard error and exit code 1. This always throws, so
   * no code after it runs.
   */
  fail(line: string): never;
}

/**
 * Reports progress, such as `1200 removed`. You can call it as often as you like, because Portico
 * shows only some of the reports. With `atOnce`, Portico always shows the report. Use it before a
 * step that may block the process.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/**
 * Adds commands to the console. The console also calls this for `--help`, so it must not open
 * anything.
 */
export type AddCommands = (program: Command, context: ConsoleContext) => void;

/** Configuration sections without types. They accept any key with any value. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * A plugin of an application.
 *
 * `Sections` are the top-level configuration keys that the plugin adds, as an application writes
 * them: `Plugin<{ shop: { currency?: string } }>`. If you leave `Sections` out, the compiler does
 * not check keys.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** The plugin's name, in lower snake case. Its configuration section has the same name. */
  readonly name: string;
  /**
   * The plugin's default configuration. The application's values override it. Maps merge by key,
   * and arrays by position.
   */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The environment variables that `defaults` reads, each with the configuration key that it sets.
   * If a variable is not set, the report of the problem names it.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /** The schemas of the plugin's top-level keys. Problems name the key in colon form. */
  readonly configuration: {
    readonly [Section in keyof Sections]: ConfigSchema<unknown, Sections[Section]>;
  };
  /**
   * Returns problems of keys that do not work together. Called only if each key is valid by itself.
   */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The `Authorization` schemes of client requests, such as Bearer. These requests have no session
   * and no cookies, and skip the session-wide CSRF check. Defaults to no schemes.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /**
   * Returns the page languages and texts from the configuration. By default, pages are only in
   * English.
   */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own' | 'catalogs'>;
  /** Returns the branding of pages. Defaults to Portico's own design. */
  readonly branding?: (
    config: ConfigMap,
    place: Omit<BrandedPlace, 'application'>,
  ) => FoundBranding;
  /**
   * The plugin's schema migrations, in order. There may be none. A function receives the
   * configuration, and returns the migrations that it needs. If the configuration is not known, the
   * function receives an empty one. It then returns the migrations that every configuration needs.
   */
  readonly migrations: readonly Migration[] | ((config: ConfigMap) => readonly Migration[]);
  /** The absolute path of the plugin's default views. Null if the plugin has none. */
  readonly views: string | null;
  /**
   * Reads from `returnTo` why the plugin sent a person to the kit's sign-in page, so that the page
   * can show the reason. Returns null if this plugin did not send the person.
   */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /**
   * Adds the plugin's console commands. Portico awaits a returned promise, so you can load the
   * commands before you add them.
   */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /**
   * Adds routes, middleware and services while the application starts. The database schema may not
   * exist yet.
   */
  register(application: Application): void | Promise<void>;
  /**
   * Returns one sentence for each thing that does not work in the current setup. `serve` prints and
   * logs these warnings, and still starts.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /**
   * Runs the application's `register`. Use this to make functions such as `tool()` work inside
   * `register`.
   */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}

/**
 * An application before it starts. It contains only data and functions, and nothing is open yet.
 */
export interface ApplicationDefinition {
  /**
   * The application's folder, which contains `.env`, `storage`, `logs` and `views`. By default, the
   * console uses the folder of the package.json that it found. Otherwise, the default is the
   * current folder. Set this option if your server starts in another folder. Bundlers make
   * `import.meta.dirname` undefined.
   */
  readonly directory?: string | undefined;
  /** The application's configuration. Overrides the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The schemas of the application's own top-level keys. Portico passes a key without a schema on
   * unchanged.
   */
  readonly configuration?: Readonly<Record<string, ConfigSchema>>;
  /**
   * The application's own database pool or file, in place of `database_url`: `fromPostgres(pool)`,
   * `fromMysql(pool)` or `fromSqlite(db)`.
   */
  readonly database?: BorrowedDatabase;
  /** The plugins, in order. A later plugin's defaults override an earlier plugin's. */
  readonly plugins?: readonly Plugin[];
  /**
   * A framework that serves the application by itself, such as `@portico/kit`. Leave this out in an
   * application that mounts Portico.
   */
  readonly framework?: Framework;
  /** The application's own schema migrations. Portico applies them after those of the plugins. */
  readonly migrations?: readonly Migration[];
  /**
   * Receives the plugins' measurements, for example `opentelemetry()` from `portico/telemetry`. By
   * default, Portico measures nothing.
   */
  readonly telemetry?: Telemetry;
  /**
   * The folder with the application's own views. Defaults to `views` in the application's folder.
   */
  readonly views?: string;
  /** The application's own console commands. */
  readonly commands?: AddCommands;
  /**
   * Adds the application's routes and event listeners. It runs after the plugins have registered.
   */
  readonly register?: (application: Application) => void | Promise<void>;
}
