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
import type { ConfigSchema } from '../contracts/config-schema.ts';
import type { PasswordHasher } from '../contracts/password-hasher.ts';
import type { Telemetry } from '../contracts/telemetry.ts';
import type { WaitingFor } from '../contracts/waiting.ts';
import type { BrandedPlace, Branding, FoundBranding } from '../contracts/branding.ts';
import type { ClosableLog } from '../defaults/log.ts';
import type { Views } from '../defaults/views.ts';
import type { CompleteHost } from '../host.ts';
import type { KitConfig } from './keys.ts';

export type { ConfigurationProblem } from '@portico/sql';
export type { Views } from '../defaults/views.ts';
export type { ViewProblem } from '../defaults/view-errors.ts';

/** A value of the merged configuration. */
export type ConfigValue = unknown;
/**
 * A map of the configuration. Messages name a key by its path, with colons: `oauth_server:name`.
 */
export type ConfigMap = { readonly [key: string]: ConfigValue };
/**
 * Environment values. The process's values override those of `.env` (or of `.env.local`, which
 * replaces `.env`).
 */
export type Environment = Readonly<Record<string, string | undefined>>;

// --- a request -----------------------------------------------------------------------------------

/**
 * The placeholders of a route's path by name, percent-decoded: `/api/articles/{id}` gives `{ id }`.
 */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Placeholders are passed by name: `({ id }) => ...`. */
export type RouteHandler = (parameters: RouteParameters, request: Request) => Response | Promise<Response>;

/** A method that a route can answer. HEAD is answered as GET, without the body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A named route. Names are unique in an application. A route may have several methods. */
export interface Route {
  /** Such as `api.notes.index`. `path()` and `csrf_exempt_routes` use this name. */
  readonly name: string;
  /** The methods that it answers. Another method on its path is answered 405. */
  readonly methods: readonly HttpMethod[];
  /**
   * Set when it answers each of its methods with 405. They are then not offered or listed in
   * `Allow`.
   */
  readonly refusesMethods?: true;
  /** An absolute path, with placeholders in braces: `/api/articles/{id}`. */
  readonly path: string;
  /**
   * Set when it is left out if another route of the application answers its path, with any method.
   * Only for routes of plugins.
   */
  readonly yields?: true;
  /** `ErrorHandler` maps exceptions to a status. */
  readonly handler: RouteHandler;
}

/** Wraps every route of the application (but not those of plugins), outermost first. */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;

// --- the application -----------------------------------------------------------------------------

/** The application's events, by name. */
export interface Events {
  /** Adds a listener. For the two host hooks, the listener's return value replaces the response. */
  on(event: string, listener: (payload: never) => unknown): void;
  /**
   * Calls the listeners in order. If one fails, the failure is logged, and the others still run.
   */
  emit(event: string, payload: unknown): Promise<void>;
}

/** What is known about a request's connection. */
export interface Connection {
  /** The remote address, such as `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request's target as it was sent. A URL parser resolves dot segments and backslashes, so
   * only this shows whether the path was written exactly as a route's path. Without it, the URL's
   * path is used.
   */
  readonly target?: string;
}

/** A started application, as plugins, commands and route handlers see it. */
export interface Application {
  /** The absolute path of the application's folder. */
  readonly directory: string;
  /** The absolute path for the application's files: `STORAGE_DIR`, or `storage` in its folder. */
  readonly storageDirectory: string;
  /** The process's environment, over that of `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`; `prod` when unset. */
  readonly mode: 'dev' | 'prod';
  /** Validated, with defaults. A plugin reads its own section. */
  readonly config: ConfigMap;
  /**
   * The origin of `public_url`, such as `https://app.example.com`. Together with `basePath` it is
   * the issuer.
   */
  readonly publicUrl: string;
  /**
   * `base_path`: empty, or such as `/auth`. The endpoints of plugins and the kit's pages are below
   * it. The application's own routes keep their paths. If a proxy removes the base path
   * (`base_path_stripped`), all routes are below it.
   */
  readonly basePath: string;
  /** The store of `database_url`, or on the application's own pool. */
  readonly database: OpenedDatabase;
  /**
   * Portico's own connections to a database server, from `database_pool_size` and
   * `database_connection_lifetime`. Null when it has none.
   */
  readonly pool: { readonly size: number; readonly lifetime: number } | null;
  /** Every step of the application's schema, with those of its plugins, in order. */
  migrations(): Promise<readonly MigrationState[]>;
  /**
   * The SQL of the missing steps, for another tool to apply. Changes nothing. Empty when no step is
   * missing.
   */
  printMigrations(): Promise<string>;
  /**
   * Applies the missing steps, or those of them that `only` accepts. Returns the names of the
   * applied steps. Calls `onStep` before each step.
   */
  migrate(only?: (name: string) => boolean, onStep?: (step: BegunStep) => void): Promise<readonly string[]>;
  /**
   * Hashes the secrets of applications. The account providers get another one, with a separate
   * queue.
   */
  readonly passwordHasher: PasswordHasher;
  /** Looks for views first in the application, then in the plugins, then in the kit. */
  readonly views: Views;
  /** Chooses the language of pages for each request. */
  readonly speaking: Speaking;
  /** The look of the pages. Null when `branding` is empty. */
  readonly branding: Branding | null;
  /** Add listeners here while the application registers its parts. */
  readonly events: Events;
  /** The log of `log:path`. */
  readonly log: Log;
  /** Receives the measurements of plugins. Null when the application has none. */
  readonly telemetry: Telemetry | null;
  /** What plugins offer, by name, such as `oauth_server`. */
  readonly services: Map<string, unknown>;
  /**
   * Adds a route. Throws when the name, or a method on the path, is taken. Only while plugins
   * register.
   */
  route(route: Route): void;
  /** Wraps the application's own routes. Only while plugins register. */
  middleware(middleware: Middleware): void;
  /**
   * The path of a named route as browsers request it, with placeholders filled and percent-encoded.
   * Throws for an unknown name.
   */
  path(name: string, parameters?: RouteParameters): string;
  /** Whether a route of this name exists. */
  hasRoute(name: string): boolean;
  /** Answers a request. Everything that reaches the application goes through this function. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * The client address of the current request: that of its connection, or with `trusted_proxies`
   * the one that so many proxies report in `X-Forwarded-For`. Null if unknown. Throws outside a
   * request.
   */
  clientAddress(): string | null;
  /** Waits for running requests (at most ten seconds), and closes the store and the log. */
  close(): Promise<void>;
  /**
   * The framework's people and sessions. Null in an application that mounts Portico. `signIn` is
   * the path of the sign-in page, or its route.
   */
  readonly host: ((signIn: string) => FrameworkHost) | null;
}

/**
 * What a framework knows about people and browsers. The application provides the rest of the host
 * contract.
 */
export type FrameworkHost = Pick<
  CompleteHost,
  'signedIn' | 'loadAccount' | 'holdsPermission' | 'findPeople' | 'browserSecret' | 'signOut' | 'loginUrl'
>;

/** The configuration that an application starts with. */
export interface Configuration {
  /** The process's environment, over that of `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. */
  readonly mode: Application['mode'];
  /** An absolute path. */
  readonly storageDirectory: string;
  /** The whole configuration, validated, with defaults. */
  readonly config: ConfigMap;
  /** The kit's own keys. */
  readonly kit: KitConfig;
  /** The look of the pages; null for Portico's own design. */
  readonly branding: Branding | null;
}

/** What was read and opened for an application that starts. */
export interface ApplicationParts {
  /** The application as it was defined. */
  readonly definition: ApplicationDefinition;
  /** The configuration that it starts with. */
  readonly configuration: Configuration;
  /** The open log of `log:path`. */
  readonly log: ClosableLog;
  /** The open store. */
  readonly database: OpenedDatabase;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to, and not including, 1. */
  readonly random: () => number;
}

/**
 * Turns a definition into an application that serves by itself, with accounts, sessions and routes.
 * `@portico/kit` is one.
 */
export interface Framework {
  /** Its steps of the schema that the definition needs. */
  migrations(definition: ApplicationDefinition): readonly Migration[];
  /** Its console commands, such as `serve`. */
  commands(plugins: readonly Plugin[]): readonly AddCommands[];
  /** Builds the application and registers its parts. */
  start(parts: ApplicationParts): Promise<Application>;
}

/**
 * What a console command works with. Data goes to standard output, everything else to standard
 * error.
 */
export interface ConsoleContext {
  /**
   * Starts the application once. Throws a ConfigurationError that names every problem. With a
   * `log:path` of `-`, the log goes to standard error unless the command serves, because the
   * command prints its data on standard output.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data on standard output. */
  print(line: string): void;
  /** Prints a JSON document on standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the reader on standard error. */
  note(line: string): void;
  /**
   * Runs long work and shows its progress on standard error. A terminal gets one line that is
   * rewritten; elsewhere there is a line every five seconds, and none for shorter work. `what`
   * describes the work: `Removing expired rows`. Resolves and rejects as the work does.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /**
   * Ends the command with one clear line on standard error and exit code 1. Throws, so nothing
   * after it runs.
   */
  fail(line: string): never;
}

/**
 * Reports progress, such as `1200 removed`. Call it as often as you like, because only some calls
 * are shown. `atOnce` shows this one, for example before a step that may block the process.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/** Adds commands to the console. Also called for `--help`, so it must not open anything. */
export type AddCommands = (program: Command, context: ConsoleContext) => void;

/** Configuration sections without types: any key, any value. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * A plugin of an application. `Sections` are the top-level configuration keys that it adds, as an
 * application writes them: `Plugin<{ shop: { currency?: string } }>`. Without it, keys are not
 * checked.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** In lower snake case. Its section of the configuration has the same name. */
  readonly name: string;
  /** The application's values are merged over these: maps by key, arrays by position. */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * The environment variables that `defaults` reads, with the keys that they set. Problems name a
   * variable that is not set.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /** How to validate each top-level key of this plugin. Problems name the key in colon form. */
  readonly configuration: { readonly [Section in keyof Sections]: ConfigSchema<unknown, Sections[Section]> };
  /** Finds problems between keys that are each valid. Called when all of them are. */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The schemes of `Authorization` that mark a request of an application, as Bearer does: without
   * session and cookies, and exempt from the session-wide CSRF check. None unless given.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /**
   * What the configuration says about the languages of pages, and the texts that it contributes to
   * them. Only English unless given.
   */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own' | 'catalogs'>;
  /** The look that it gives the pages; Portico's own design unless given. */
  readonly branding?: (config: ConfigMap, place: Omit<BrandedPlace, 'application'>) => FoundBranding;
  /** Its steps of the schema, in order. Empty for none. */
  readonly migrations: readonly Migration[];
  /** The absolute path of the folder with its default views, or null. */
  readonly views: string | null;
  /**
   * What the kit's sign-in page says about why a person was sent to it, from `returnTo`. Null if
   * this plugin did not send them.
   */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /** Adds its console commands. A returned promise is awaited, so commands can be loaded first. */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /**
   * Adds routes, middleware and services to a starting application. The schema may not exist yet.
   */
  register(application: Application): void | Promise<void>;
  /**
   * What a started application cannot do in its current setup, one sentence each. `serve` prints
   * and logs them, and serves anyway.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /** Runs the application's own `register`, so that a function such as `tool()` works inside it. */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}

/** An application before it starts: data and functions, with nothing opened. */
export interface ApplicationDefinition {
  /**
   * The application's folder, which contains `.env`, `storage`, `logs` and `views`. By default, the
   * console uses the folder of the package.json in which it found the file, and any other start
   * uses the current folder. So set it if your server starts elsewhere. Note that bundlers make
   * `import.meta.dirname` undefined.
   */
  readonly directory?: string | undefined;
  /** The application's configuration. Overrides the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /**
   * How to validate each of the application's own top-level keys. A key without a schema is passed
   * on unchanged.
   */
  readonly configuration?: Readonly<Record<string, ConfigSchema>>;
  /**
   * The application's own pool or file, instead of `database_url`: `fromPostgres(pool)`,
   * `fromMysql(pool)`, `fromSqlite(db)`.
   */
  readonly database?: BorrowedDatabase;
  /** In order: the defaults of a later plugin override those of an earlier one. */
  readonly plugins?: readonly Plugin[];
  /**
   * Serves the application by itself, as `@portico/kit` does. An application that mounts Portico
   * has none.
   */
  readonly framework?: Framework;
  /** The application's own steps of the schema, applied after those of the plugins. */
  readonly migrations?: readonly Migration[];
  /**
   * Receives the measurements of plugins: `opentelemetry()` of `portico/telemetry`. Nothing is
   * measured unless given.
   */
  readonly telemetry?: Telemetry;
  /** The folder of the application's own views; `views` in its folder unless given. */
  readonly views?: string;
  /** The application's own console commands. */
  readonly commands?: AddCommands;
  /** Adds the application's routes and event listeners, after the plugins have registered. */
  readonly register?: (application: Application) => void | Promise<void>;
}
