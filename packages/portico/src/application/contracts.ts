/** What an application, its plugins and its console promise to each other. Types only. */
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
import type { ZodType } from 'zod';
import type { PasswordHasher } from '../contracts/password-hasher.ts';
import type { Telemetry } from '../contracts/telemetry.ts';
import type { WaitingFor } from '../contracts/waiting.ts';
import type { Branding } from '../defaults/branding/branding.ts';
import type { ClosableLog } from '../defaults/log.ts';
import type { Views } from '../defaults/views.ts';
import type { CompleteHost } from '../host.ts';
import type { KitConfig } from './keys.ts';

export type { ConfigurationProblem } from '@portico/sql';
export type { Views } from '../defaults/views.ts';
export type { ViewProblem } from '../defaults/view-errors.ts';

/** A value of the merged configuration. */
export type ConfigValue = unknown;
/** A map of the configuration. Messages name a key by its path, with colons: `oauth_server:name`. */
export type ConfigMap = { readonly [key: string]: ConfigValue };
/** Environment values: the process's own, over those of `.env` (or of `.env.local`, which replaces it). */
export type Environment = Readonly<Record<string, string | undefined>>;

// --- a request ------------------------------------------------------------------------------------------------

/** Placeholders of the route's path by name, percent-decoded: `/api/articles/{id}` gives `{ id }`. */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Placeholders arrive by name: `({ id }) => ...`. */
export type RouteHandler = (parameters: RouteParameters, request: Request) => Response | Promise<Response>;

/** A method that a route can answer; HEAD is answered as GET, without the body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A named route. Names are unique in an application; several methods may share one. */
export interface Route {
  /** Such as `api.notes.index`: what `path()` and `csrf_exempt_routes` know the route by. */
  readonly name: string;
  /** The methods that it answers; another one on its path is 405. */
  readonly methods: readonly HttpMethod[];
  /** Set when it answers each of them with 405: they are not offered, and no `Allow` names them. */
  readonly refusesMethods?: true;
  /** Absolute path, placeholders in braces: `/api/articles/{id}`. */
  readonly path: string;
  /** Set when it is left out where another route of the application answers its path, by whatever method. Of a plugin's route alone. */
  readonly yields?: true;
  /** What it throws is mapped to a status by `ErrorHandler`. */
  readonly handler: RouteHandler;
}

/** Wraps every route of the application (not those of plugins), outermost first. */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;

// --- the application ------------------------------------------------------------------------------------------

/** The application's events, by name. */
export interface Events {
  /** Adds a listener. The two host hooks replace the response by what the listener returns. */
  on(event: string, listener: (payload: never) => unknown): void;
  /** Calls the listeners, in order. One that fails is logged and does not stop the others. */
  emit(event: string, payload: unknown): Promise<void>;
}

/** What is known of the connection that a request came on. */
export interface Connection {
  /** The other end, such as `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request's target as it was sent. A URL parser resolves dot segments and backslashes, so only this shows whether the
   * path was written as a route's is. Without it the URL's path counts.
   */
  readonly target?: string;
}

/** A started application, as plugins, commands and route handlers see it. */
export interface Application {
  /** The folder the application lives in, absolute. */
  readonly directory: string;
  /** Where the application keeps its files: `STORAGE_DIR`, or `storage` in its folder; absolute. */
  readonly storageDirectory: string;
  /** The process's environment over that of `.env`, or of `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`; `prod` when unset. */
  readonly mode: 'dev' | 'prod';
  /** Validated, with defaults. A plugin reads its own section. */
  readonly config: ConfigMap;
  /** The origin of `public_url`, such as `https://app.example.com`; with `basePath` it is the issuer. */
  readonly publicUrl: string;
  /**
   * `base_path`: empty, or such as `/auth`. The endpoints of plugins, and the kit's own pages, are below it; the application's own
   * routes are where it says, unless a proxy takes the base path away (`base_path_stripped`): then all are below it.
   */
  readonly basePath: string;
  /** The store of `database_url`, or on the application's own pool. */
  readonly database: OpenedDatabase;
  /** Portico's own connections to a database server: `database_pool_size`, `database_connection_lifetime`; null when it has none. */
  readonly pool: { readonly size: number; readonly lifetime: number } | null;
  /** Every step of the application's schema, its plugins' too, in their order. */
  migrations(): Promise<readonly MigrationState[]>;
  /** The SQL of the steps that are missing, for another tool that applies it; changes nothing. Empty when none is. */
  printMigrations(): Promise<string>;
  /**
   * Applies the steps that are missing, or those of them that `only` accepts; returns the names of those applied. `onStep` is told of
   * each before it begins.
   */
  migrate(only?: (name: string) => boolean, onStep?: (step: BegunStep) => void): Promise<readonly string[]>;
  /** For the secrets of applications. The account providers get another, with a queue of its own. */
  readonly passwordHasher: PasswordHasher;
  /** The application's views before those of the plugins and of the kit. */
  readonly views: Views;
  /** In which language pages are, request by request. */
  readonly speaking: Speaking;
  /** How the pages look; null when `branding` says nothing. */
  readonly branding: Branding | null;
  /** Where listeners are added while the application registers its parts. */
  readonly events: Events;
  /** The log of `log:path`. */
  readonly log: Log;
  /** Takes what plugins measure; null unless the application has one. */
  readonly telemetry: Telemetry | null;
  /** What plugins offer by name, such as `oauth_server`. */
  readonly services: Map<string, unknown>;
  /** Adds a route; throws when the name or the method and path are taken. Only while plugins register. */
  route(route: Route): void;
  /** Wraps the application's own routes. Only while plugins register. */
  middleware(middleware: Middleware): void;
  /** The path of a named route as browsers ask for it, placeholders filled and percent-encoded. Throws for an unknown name. */
  path(name: string, parameters?: RouteParameters): string;
  /** Whether a route of this name exists. */
  hasRoute(name: string): boolean;
  /** Answers a request. Everything that reaches the application comes through here. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Where the request being answered comes from: the other end of its connection, or with `trusted_proxies` what that
   * many proxies say in `X-Forwarded-For`. Null when it is not known. Throws outside of a request.
   */
  clientAddress(): string | null;
  /** Waits for the requests in flight, ten seconds at most, and closes the store and the log. */
  close(): Promise<void>;
  /** People and sessions, as the framework has them; null in an application that mounts Portico. `signIn` is the path of the sign-in page, or its route. */
  readonly host: ((signIn: string) => FrameworkHost) | null;
}

/** What a framework knows of people and browsers; the application has the rest of the host contract. */
export type FrameworkHost = Pick<
  CompleteHost,
  'signedIn' | 'loadAccount' | 'holdsPermission' | 'findPeople' | 'browserSecret' | 'signOut' | 'loginUrl'
>;

/** What an application is started with. */
export interface Configuration {
  /** The process's environment over that of `.env`, or of `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. */
  readonly mode: Application['mode'];
  /** Absolute. */
  readonly storageDirectory: string;
  /** All of it, validated, with defaults. */
  readonly config: ConfigMap;
  /** The kit's own keys of it. */
  readonly kit: KitConfig;
}

/** What an application is made of when it starts: what was read and opened. */
export interface ApplicationParts {
  /** What the application is, as it was written. */
  readonly definition: ApplicationDefinition;
  /** What it is started with. */
  readonly configuration: Configuration;
  /** The log of `log:path`, open. */
  readonly log: ClosableLog;
  /** The store, open. */
  readonly database: OpenedDatabase;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to, and not including, 1. */
  readonly random: () => number;
}

/** What turns a definition into an application that serves by itself: accounts, sessions, routes. `@portico/kit` is one. */
export interface Framework {
  /** Its steps of the schema, as far as the definition needs them. */
  migrations(definition: ApplicationDefinition): readonly Migration[];
  /** Its console commands, such as `serve`. */
  commands(plugins: readonly Plugin[]): readonly AddCommands[];
  /** Builds the application and registers its parts. */
  start(parts: ApplicationParts): Promise<Application>;
}

/** What a console command gets to work with. Data goes to standard output, everything else to standard error. */
export interface ConsoleContext {
  /**
   * Starts the application (once); throws a ConfigurationError that names every problem. With a `log:path` of `-` the log
   * goes to standard error, unless the command serves: standard output is for what it prints.
   */
  application(options?: { readonly serves?: boolean }): Promise<Application>;
  /** Prints a line of data on standard output. */
  print(line: string): void;
  /** Prints a JSON document on standard output. */
  printJson(value: unknown): void;
  /** Prints a line for the reader on standard error. */
  note(line: string): void;
  /**
   * Runs work that lasts, and shows on standard error how far it has come: on a terminal one line that is rewritten, elsewhere a line
   * every five seconds, and none for what is done sooner. `what` says what is done: `Removing expired rows`. Resolves and rejects
   * as the work does.
   */
  progress<T>(what: string, work: (report: ReportProgress) => Promise<T>): Promise<T>;
  /** Ends the command: one clear line on standard error, exit code 1. Throws, so nothing after it runs. */
  fail(line: string): never;
}

/**
 * Says how far work has come, such as `1200 removed`; may be called as often as there is something to say, since few of the calls are
 * shown. `atOnce` shows this one: before a step that may keep the process busy for long.
 */
export type ReportProgress = (state: string, options?: { readonly atOnce?: boolean }) => void;

/** Adds commands to the console. Called for `--help` too, so it must not open anything. */
export type AddCommands = (program: Command, context: ConsoleContext) => void;

/** Sections of the configuration of which no type is known: any key, any value. */
export type UntypedSections = { readonly [section: string]: ConfigValue };

/**
 * A part that an application adds to itself. `Sections` are the top-level keys that it brings to the configuration, as an application
 * writes them: `Plugin<{ shop: { currency?: string } }>`. Without them nothing is known of any key.
 */
export interface Plugin<Sections extends object = UntypedSections> {
  /** Lower snake case; its section of the configuration carries the same name. */
  readonly name: string;
  /** Merged under the application's values: maps by key, arrays by position. */
  readonly defaults: ConfigMap | ((env: Environment) => ConfigMap);
  /** The variables of the environment that `defaults` reads, with the keys that they set: problems name one that is not set. */
  readonly variables?: Readonly<Record<string, string>>;
  /** How each top-level key of this plugin is validated; problems name the key in colon form. */
  readonly configuration: { readonly [Section in keyof Sections]: ZodType<unknown, Sections[Section]> };
  /** Finds what is wrong between keys that are each valid by themselves; called when all of them are. */
  readonly problems?: (config: ConfigMap) => readonly ConfigurationProblem[];
  /**
   * The schemes of `Authorization` that say that a request is one of an application, as Bearer does: without session and cookies, and left
   * alone by the session-wide CSRF check. None unless given.
   */
  readonly tokenSchemes?: (config: ConfigMap) => readonly string[];
  /** What the configuration says of the words of pages: their languages, and texts of its own that they show. English alone unless given. */
  readonly words?: (config: ConfigMap) => Pick<SpeakingOptions, 'languages' | 'own'>;
  /** Its steps of the schema, in their order; empty for none. */
  readonly migrations: readonly Migration[];
  /** Folder of default views, absolute; null for none. */
  readonly views: string | null;
  /** What the kit's sign-in page says of why somebody was sent to it, from `returnTo`; null when this plugin did not send them. */
  readonly waitingFor?: (
    application: Application,
    request: Request,
    returnTo: string,
  ) => Promise<WaitingFor | null>;
  /** Adds its console commands; a promise is waited for, so that they can be loaded first. */
  readonly commands: (...given: Parameters<AddCommands>) => void | Promise<void>;
  /** Adds routes, middleware and services to a starting application. The schema may not exist yet. */
  register(application: Application): void | Promise<void>;
  /**
   * What a started application cannot do as it is put together, a sentence each. `serve` tells whoever starts it, and the log, and serves
   * all the same.
   */
  readonly warnings?: (application: Application) => readonly string[];
  /** Runs the application's own `register`, so that a function such as `tool()` works inside of it. */
  readonly around?: (application: Application, register: () => Promise<void>) => Promise<void>;
}

/** An application before it is started: data and functions, nothing opened. */
export interface ApplicationDefinition {
  /**
   * The application's folder, where `.env`, `storage`, `logs` and `views` are looked for. Unless given it is the folder of the package.json
   * by which the console found the file, and the current one when the application is started otherwise: give it where a server is not
   * started there. A bundler makes `import.meta.dirname` undefined.
   */
  readonly directory?: string | undefined;
  /** The application's configuration, over the plugins' defaults. */
  readonly config: ConfigMap | ((env: Environment) => ConfigMap);
  /** How each top-level key of the application's own is validated; a key without a schema is passed on as it is. */
  readonly configuration?: Readonly<Record<string, ZodType>>;
  /** The application's own pool or file, in the place of `database_url`: `fromPostgres(pool)`, `fromMysql(pool)`, `fromSqlite(db)`. */
  readonly database?: BorrowedDatabase;
  /** In their order: a later one's defaults go over those of an earlier one. */
  readonly plugins?: readonly Plugin[];
  /** What serves the application by itself, as `@portico/kit` does; an application that mounts Portico has none. */
  readonly framework?: Framework;
  /** The application's own steps of the schema, after those of the plugins. */
  readonly migrations?: readonly Migration[];
  /**
   * Takes what plugins measure: `opentelemetry()` of `portico/telemetry`. Nothing is measured unless given.
   */
  readonly telemetry?: Telemetry;
  /** Folder of the application's own views; default `views` in its folder. */
  readonly views?: string;
  /** The application's own console commands. */
  readonly commands?: AddCommands;
  /** Adds the application's routes and event listeners, after the plugins registered. */
  readonly register?: (application: Application) => void | Promise<void>;
}
