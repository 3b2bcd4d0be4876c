import type { BegunStep, Log, MigrationState, OpenedDatabase } from '@portico/sql';
import type { Branding } from '../pages/branding.ts';
import type { PasswordHasher } from '../host/password-hasher.ts';
import type { Views } from '../pages/views.ts';
import type { CompleteHost } from '../host/host.ts';
import type { Telemetry } from '../measuring.ts';
import type { Speaking } from '../pages/speaking.ts';
import type { ConfigMap, Environment } from './config-map.ts';
import type { Middleware, Route, RouteParameters } from './routes.ts';

/** A started application, as plugins, commands and route handlers see it. */
export interface Application {
  /** The absolute path of the application's folder. */
  readonly directory: string;
  /**
   * The absolute path of the storage folder: `STORAGE_DIR`, or `storage` in the application's
   * folder.
   */
  readonly storageDirectory: string;
  /**
   * The environment variables. Variables of the process override those in `.env` or `.env.local`.
   */
  readonly env: Environment;
  /** `dev` or `prod`, from the variable `APP_ENV`. Default: `prod`. */
  readonly mode: 'dev' | 'prod';
  /** The validated configuration with defaults. Each plugin reads its own section. */
  readonly config: ConfigMap;
  /**
   * The origin of `public_url`, for example `https://app.example.com`. The issuer is this origin
   * plus `basePath`.
   */
  readonly publicUrl: string;
  /**
   * The setting `base_path`: empty, or a path such as `/auth`. The plugins' endpoints and the kit's
   * pages are below it. The application's own routes are not. With `base_path_stripped`, a proxy
   * removes it from requests, so browsers see all routes below it.
   */
  readonly basePath: string;
  /** The open database: the one at `database_url`, or the application's own. */
  readonly database: OpenedDatabase;
  /**
   * The limits of Portico's connections to a database server, from `database_pool_size` and
   * `database_connection_lifetime`. Null if Portico opens no such connections.
   */
  readonly pool: { readonly size: number; readonly lifetime: number } | null;
  /** Returns all migrations of the application and its plugins, sorted by name. */
  migrations(): Promise<readonly MigrationState[]>;
  /**
   * Returns the SQL of all missing migrations for another tool, or an empty string. Changes
   * nothing.
   */
  printMigrations(): Promise<string>;
  /**
   * Applies the missing migrations and returns their names. With `only`, applies only those that it
   * accepts. Calls `onStep` before each migration.
   */
  migrate(
    only?: (name: string) => boolean,
    onStep?: (step: BegunStep) => void,
  ): Promise<readonly string[]>;
  /** The hasher for client secrets. Account providers use a separate one with its own queue. */
  readonly passwordHasher: PasswordHasher;
  /** The views. The application's come first, then the plugins', then the kit's. */
  readonly views: Views;
  /** Chooses the language of pages for each request. */
  readonly speaking: Speaking;
  /** The branding of the pages, or null if `branding` is not configured. */
  readonly branding: Branding | null;
  /** The events of the application. Add listeners while the application registers its parts. */
  readonly events: Events;
  /** The log, which writes to `log:path`. */
  readonly log: Log;
  /** Receives the measurements of plugins. Null if the application does not use telemetry. */
  readonly telemetry: Telemetry | null;
  /** Objects that plugins share, by name. `oauth_server` contains the authorization server. */
  readonly services: Map<string, unknown>;
  /**
   * Adds a route. Throws if another route has the same name. With the kit, also throws if another
   * route has the same path and method. Call it only while the application registers its parts.
   */
  route(route: Route): void;
  /**
   * Adds a middleware around the application's own routes. Call it only while the application
   * registers its parts.
   */
  middleware(middleware: Middleware): void;
  /**
   * Returns the path of a named route, as browsers request it, with percent-encoded values for the
   * placeholders. Throws if there is no such route, or if a placeholder has no value.
   */
  path(name: string, parameters?: RouteParameters): string;
  /** Returns true if a route with this name exists. */
  hasRoute(name: string): boolean;
  /**
   * Answers a request. In an application of the kit, all requests pass through this method. If
   * Portico is mounted, only the doctor calls it, for routes of plugins.
   */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Returns the client's address for the current request, or null. This is the address of the
   * connection. With `trusted_proxies`, it is the address that the trusted proxies report in
   * `X-Forwarded-For`. Throws outside a request, and if Portico is mounted.
   */
  clientAddress(): string | null;
  /** Adds work for when the application closes, before the database and the log are closed. */
  onClose(work: () => Promise<void>): void;
  /**
   * Runs the work from `onClose`, and then closes the database and the log. With the kit, first
   * waits at most ten seconds for running requests. If some of the work fails, completes the rest
   * and then rejects.
   */
  close(): Promise<void>;
  /**
   * Returns the host methods of the framework. Null if Portico is mounted. `signIn` is the path of
   * the sign-in page, or the name of its route.
   */
  readonly host: ((signIn: string) => FrameworkHost) | null;
}

/** The events of an application, by name. */
export interface Events {
  /** Adds a listener. A listener of a host hook can return a new response. */
  on(event: string, listener: (payload: never) => unknown): void;
  /** Calls the listeners in order. If one fails, logs the error and calls the next. */
  emit(event: string, payload: unknown): Promise<void>;
}

/** Information about the connection that a request came from. */
export interface Connection {
  /** The IP address of the client or proxy that opened the connection, for example `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request target exactly as the client sent it. A URL parser changes dot segments and
   * backslashes, so only this value shows if the path matches a route. Default: the path of the
   * request's URL.
   */
  readonly target?: string;
}

/**
 * A framework's host methods for accounts and browsers. The plugin `oauthServer()` adds the others,
 * for example the application's log and views.
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
