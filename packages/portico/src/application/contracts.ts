/** The contracts between an application, its plugins and its console. Types only. */
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
/** A configuration map. Messages name a key by its path, with colons: `oauth_server:name`. */
export type ConfigMap = { readonly [key: string]: ConfigValue };
/**
 * Environment values. The process's values override those of `.env` (or of `.env.local`, which
 * replaces `.env`).
 */
export type Environment = Readonly<Record<string, string | undefined>>;

// --- a request -----------------------------------------------------------------------------------

/**
 * The values of a path's placeholders by name, percent-decoded: `/api/articles/{id}` gives
 * `{ id }`.
 */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Placeholders are passed by name: `({ id }) => ...`. */
export type RouteHandler = (
  parameters: RouteParameters,
  request: Request,
) => Response | Promise<Response>;

/** An HTTP method that a route can handle. HEAD requests run as GET, without the response body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A named route. Names are unique in an application. A route may have several methods. */
export interface Route {
  /** Such as `api.notes.index`. `path()` and `csrf_exempt_routes` use this name. */
  readonly name: string;
  /** The methods that the route handles. Other methods on its path get a 405 response. */
  readonly methods: readonly HttpMethod[];
  /** If true, the route rejects each of its methods with 405, and `Allow` does not list them. */
  readonly refusesMethods?: true;
  /** An absolute path, with placeholders in braces: `/api/articles/{id}`. */
  readonly path: string;
  /**
   * If true, Portico leaves this route out when another route has the same path, with any method.
   * Only for plugin routes.
   */
  readonly yields?: true;
  /**
   * If true, the route reads no session. The session-wide CSRF check then applies only if
   * `csrf_exempt_routes` says false.
   */
  readonly readsNoSession?: true;
  /** Handles the request. `ErrorHandler` turns exceptions into responses. */
  readonly handler: RouteHandler;
}

/** Wraps every application route, but no plugin routes. The first middleware is the outermost. */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;

// --- the application -----------------------------------------------------------------------------

/** The application's events, by name. */
export interface Events {
  /**
   * Adds a listener. If it listens to one of the two host hooks, its return value replaces the
   * response.
   */
  on(event: string, listener: (payload: never) => unknown): void;
  /** Calls the listeners in order. If one fails, Portico logs the error and calls the others. */
  emit(event: string, payload: unknown): Promise<void>;
}

/** Data about a request's connection. */
export interface Connection {
  /** The remote address, such as `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request target as the client sent it. A URL parser resolves dot segments and backslashes,
   * so only this value shows whether the path matches a route exactly. Defaults to the URL's path.
   */
  readonly target?: string;
}

/** A started application, as plugins, commands and route handlers see it. */
export interface Application {
  /** The absolute path of the application's folder. */
  readonly directory: string;
  /** The absolute path for the application's files: `STORAGE_DIR`, or `storage` in its folder. */
  readonly storageDirectory: string;
  /** The environment. The process's values override those of `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. Defaults to `prod`. */
  readonly mode: 'dev' | 'prod';
  /** The validated configuration, with defaults. Each plugin reads its own section. */
  readonly config: ConfigMap;
  /**
   * The origin of `public_url`, such as `https://app.example.com`. Together with `basePath` it is
   * the issuer.
   */
  readonly publicUrl: string;
  /**
   * The `base_path` setting: empty, or a path such as `/auth`. Plugin endpoints and the kit's pages
   * are below it. The application's own routes keep their paths. With `base_path_stripped`, a proxy
   * removes the base path, so all routes are below it.
   */
  readonly basePath: string;
  /** The store: that of `database_url`, or one on the application's own pool. */
  readonly database: OpenedDatabase;
  /**
   * The limits of Portico's own connections to a database server, from `database_pool_size` and
   * `database_connection_lifetime`. Null if Portico opens no such connections.
   */
  readonly pool: { readonly size: number; readonly lifetime: number } | null;
  /** Returns every schema migration of the application and its plugins, in order. */
  migrations(): Promise<readonly MigrationState[]>;
  /**
   * Returns the SQL of the missing migrations, so that another tool can apply them. Changes
   * nothing. Empty if no migration is missing.
   */
  printMigrations(): Promise<string>;
  /**
   * Applies the missing migrations, or only those that `only` accepts. Returns their names. Calls
   * `onStep` before each one.
   */
  migrate(
    only?: (name: string) => boolean,
    onStep?: (step: BegunStep) => void,
  ): Promise<readonly string[]>;
  /** Hashes client secrets. Account providers get another hasher with a separate queue. */
  readonly passwordHasher: PasswordHasher;
  /** Finds views: first in the application, then in the plugins, then in the kit. */
  readonly views: Views;
  /** Chooses the page language for each request. */
  readonly speaking: Speaking;
  /** The branding of pages. Null if `branding` is empty. */
  readonly branding: Branding | null;
  /** The application's events. Add listeners while the application registers its parts. */
  readonly events: Events;
  /** The log of `log:path`. */
  readonly log: Log;
  /** Receives the plugins' measurements. Null if the application does not use telemetry. */
  readonly telemetry: Telemetry | null;
  /** What plugins offer, by name, such as `oauth_server`. */
  readonly services: Map<string, unknown>;
  /**
   * Adds a route. Throws if another route has the same name, or the same path and method. Works
   * only while plugins register.
   */
  route(route: Route): void;
  /** Wraps the application's own routes. Works only while plugins register. */
  middleware(middleware: Middleware): void;
  /**
   * Returns a named route's path as browsers request it. Fills in the placeholders,
   * percent-encoded. Throws for an unknown name.
   */
  path(name: string, parameters?: RouteParameters): string;
  /** Whether a route with this name exists. */
  hasRoute(name: string): boolean;
  /** Answers a request. Every request to the application goes through this function. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Returns the current request's client address. This is the connection's address or, with
   * `trusted_proxies`, the address that this many proxies report in `X-Forwarded-For`. Null if
   * unknown. Throws outside a request.
   */
  clientAddress(): string | null;
  /** Runs this work when the application closes, before it closes the store and the log. */
  onClose(work: () => Promise<void>): void;
  /** Waits at most ten seconds for running requests. Then closes the store and the log. */
  close(): Promise<void>;
  /**
   * Returns the framework's accounts and sessions. Null in an application that mounts Portico.
   * `signIn` is the sign-in page's path, or its route name.
   */
  readonly host: ((signIn: string) => FrameworkHost) | null;
}

/**
 * The host methods that a framework provides, for accounts and browsers. The application provides
 * the others.
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
  /** The absolute path for the application's files. */
  readonly storageDirectory: string;
  /** The whole validated configuration, with defaults. */
  readonly config: ConfigMap;
  /** The kit's own settings. */
  readonly kit: KitConfig;
  /** The branding of pages; null for Portico's own design. */
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
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/**
 * Builds a standalone application, with accounts, sessions and routes, from a definition.
 * `@portico/kit` is a framework.
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
 * The context of a console command. Data goes to standard output, everything else to standard
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
  /** Prints a line for the reader on standard error. */
  note(line: string): void;
  /**
   * Runs long work and shows its progress on standard error. A terminal shows one line that is
   * updated. Elsewhere, a line is printed every five seconds, and none for shorter work. `what`
   * describes the work: `Removing expired rows`. Returns the work's result, or rejects with its
   * error.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /**
   * Ends the command with one clear line on standard error and exit code 1. Throws, so nothing
   * after it runs.
   */
  fail(line: string): never;
}

/**
 * Reports progress, such as `1200 removed`. You can call it as often as you like: Portico shows
 * only some of the reports. With `atOnce`, it always shows this one. Use it before a step that may
 * block the process.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/** Adds commands to the console. Also called for `--help`, so it must not open anything. */
export type AddCommands = (program: Command, context: ConsoleContext) => void;

/** Configuration sections without types. They accept any key and any value. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * An application's plugin. `Sections` are the top-level configuration keys that the plugin adds, as
 * an application writes them: `Plugin<{ shop: { currency?: string } }>`. Without `Sections`, the
 * compiler does not check keys.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** The plugin's name, in lower snake case. Its configuration section has the same name. */
  readonly name: string;
  /**
   * The plugin's default configuration. The application's values override it: maps by key, arrays
   * by position.
   */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The environment variables that `defaults` reads, with the configuration keys that they set. If
   * a variable is not set, the problem report names it.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /** The schemas of the plugin's top-level keys. Problems name the key in colon form. */
  readonly configuration: {
    readonly [Section in keyof Sections]: ConfigSchema<unknown, Sections[Section]>;
  };
  /** Returns problems in how keys combine. Called when each key is valid by itself. */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The `Authorization` schemes of client requests, such as Bearer. Such requests have no session
   * and no cookies, and skip the session-wide CSRF check. Defaults to none.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /** Returns the page languages and texts from the configuration. Defaults to English only. */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own' | 'catalogs'>;
  /** Returns the branding of pages. Defaults to Portico's own design. */
  readonly branding?: (
    config: ConfigMap,
    place: Omit<BrandedPlace, 'application'>,
  ) => FoundBranding;
  /**
   * The plugin's schema migrations, in order. Can be empty. A function gets the configuration, and
   * returns those that it needs. It gets an empty one if the configuration is not known, and then
   * returns those that every configuration needs.
   */
  readonly migrations: readonly Migration[] | ((config: ConfigMap) => readonly Migration[]);
  /** The absolute path of the plugin's default views, or null. */
  readonly views: string | null;
  /**
   * Reads from `returnTo` why the plugin sent a person to the kit's sign-in page, so that the page
   * can show it. Null if this plugin did not send the person.
   */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /**
   * Adds the plugin's console commands. Portico awaits a returned promise, so you can load the
   * commands first.
   */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /**
   * Adds routes, middleware and services while the application starts. The database schema may not
   * exist yet.
   */
  register(application: Application): void | Promise<void>;
  /**
   * Returns one sentence for each thing that does not work in the current setup. `serve` prints and
   * logs these warnings and still starts.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /**
   * Runs the application's `register`. Use it to make functions such as `tool()` work inside
   * `register`.
   */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}

/** An application before it starts: only data and functions. Nothing is open yet. */
export interface ApplicationDefinition {
  /**
   * The application's folder, which contains `.env`, `storage`, `logs` and `views`. By default, the
   * console uses the folder of the package.json that it found, and other starts use the current
   * folder. Set this option if your server starts in another folder. Note that bundlers make
   * `import.meta.dirname` undefined.
   */
  readonly directory?: string | undefined;
  /** The application's configuration. Overrides the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The schemas of the application's own top-level keys. A key without a schema is passed on
   * unchanged.
   */
  readonly configuration?: Readonly<Record<string, ConfigSchema>>;
  /**
   * The application's own database pool or file, instead of `database_url`: `fromPostgres(pool)`,
   * `fromMysql(pool)` or `fromSqlite(db)`.
   */
  readonly database?: BorrowedDatabase;
  /** The plugins, in order. A later plugin's defaults override an earlier plugin's. */
  readonly plugins?: readonly Plugin[];
  /**
   * A framework that serves the application by itself, such as `@portico/kit`. Leave it out in an
   * application that mounts Portico.
   */
  readonly framework?: Framework;
  /** The application's own schema migrations. They are applied after those of the plugins. */
  readonly migrations?: readonly Migration[];
  /**
   * Receives the plugins' measurements, for example `opentelemetry()` from `portico/telemetry`. By
   * default, nothing is measured.
   */
  readonly telemetry?: Telemetry;
  /**
   * The folder with the application's own views. Defaults to `views` in the application's folder.
   */
  readonly views?: string;
  /** The application's own console commands. */
  readonly commands?: AddCommands;
  /** Adds the application's routes and event listeners, after the plugins have registered. */
  readonly register?: (application: Application) => void | Promise<void>;
}
