import type { BegunStep, Log, MigrationState, OpenedDatabase } from '@portico/sql';
import type { Branding } from '../pages/branding.ts';
import type { PasswordHasher } from '../host/password-hasher.ts';
import type { Views } from '../pages/views.ts';
import type { CompleteHost } from '../host/host.ts';
import type { Telemetry } from '../measuring.ts';
import type { Speaking } from '../pages/speaking.ts';
import type { ConfigMap, Environment } from './config-map.ts';
import type { Middleware, Route, RouteParameters } from './routes.ts';

/** A started application, as seen by plugins, commands and route handlers. */
export interface Application {
  /** The absolute path of the application's folder. */
  readonly directory: string;
  /**
   * The absolute path of the application's storage folder: `STORAGE_DIR`, or `storage` in the
   * application's folder.
   */
  readonly storageDirectory: string;
  /** The environment. Variables of the process override variables in `.env` or `.env.local`. */
  readonly env: Environment;
  /** `dev` or `prod`, from `APP_ENV`. Defaults to `prod`. */
  readonly mode: 'dev' | 'prod';
  /** The validated configuration, with its defaults. Each plugin reads its own section. */
  readonly config: ConfigMap;
  /**
   * The origin of `public_url`, for example `https://app.example.com`. The issuer is this origin
   * plus `basePath`.
   */
  readonly publicUrl: string;
  /**
   * The `base_path` setting: empty, or a path such as `/auth`. Plugin endpoints and the kit's pages
   * are below it. The application's own routes keep their paths. With `base_path_stripped`, a proxy
   * removes the base path, so all routes are below it.
   */
  readonly basePath: string;
  /** The store, opened from `database_url` or on the application's own pool. */
  readonly database: OpenedDatabase;
  /**
   * The limits of Portico's own connections to a database server, from `database_pool_size` and
   * `database_connection_lifetime`. Null if Portico opens no connections itself.
   */
  readonly pool: { readonly size: number; readonly lifetime: number } | null;
  /** Returns all migrations of the application and its plugins, in order. */
  migrations(): Promise<readonly MigrationState[]>;
  /**
   * Returns the SQL of the missing migrations, for use with another tool. Changes nothing. The
   * string is empty if no migration is missing.
   */
  printMigrations(): Promise<string>;
  /**
   * Applies the missing migrations and returns their names. If `only` is set, applies only those
   * that `only` accepts. Calls `onStep` before each migration.
   */
  migrate(
    only?: (name: string) => boolean,
    onStep?: (step: BegunStep) => void,
  ): Promise<readonly string[]>;
  /** Hashes client secrets. Account providers use another hasher with a separate queue. */
  readonly passwordHasher: PasswordHasher;
  /** Finds views: first in the application, then in the plugins, then in the kit. */
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
  /**
   * Objects that plugins share, by name. For example, `oauth_server` is the authorization server.
   */
  readonly services: Map<string, unknown>;
  /**
   * Adds a route. Throws if another route has the same name, or the same path and method. You can
   * call this only while the application registers its parts.
   */
  route(route: Route): void;
  /**
   * Adds a middleware to the application's own routes. You can call this only while the application
   * registers its parts.
   */
  middleware(middleware: Middleware): void;
  /**
   * Returns the path that a browser uses to reach a named route. Replaces the placeholders with
   * percent-encoded values. Throws if the name is unknown.
   */
  path(name: string, parameters?: RouteParameters): string;
  /** Whether a route with this name exists. */
  hasRoute(name: string): boolean;
  /** Answers a request. Every request to the application passes through this method. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /**
   * Returns the client address of the current request. By default, this is the address of the
   * connection. With `trusted_proxies`, it is the address that the trusted proxies report in
   * `X-Forwarded-For`. Returns null if the address is unknown. Throws outside of a request.
   */
  clientAddress(): string | null;
  /** Runs this work when the application closes, before the store and the log close. */
  onClose(work: () => Promise<void>): void;
  /** Waits at most ten seconds for running requests, then closes the store and the log. */
  close(): Promise<void>;
  /**
   * Returns the framework's accounts and sessions. Null in an application that mounts Portico.
   * `signIn` is the path of the sign-in page, or the name of its route.
   */
  readonly host: ((signIn: string) => FrameworkHost) | null;
}

/** The application's events, by name. */
export interface Events {
  /** Adds a listener. For the two host hooks, the listener can return a new response. */
  on(event: string, listener: (payload: never) => unknown): void;
  /**
   * Calls the listeners in order. If a listener fails, logs the error and calls the remaining
   * listeners.
   */
  emit(event: string, payload: unknown): Promise<void>;
}

/** Data about a request's connection. */
export interface Connection {
  /** The remote address, for example `192.0.2.7`. */
  readonly address: string | null;
  /**
   * The request target as the client sent it. A URL parser changes dot segments and backslashes, so
   * only this value shows whether the path matches a route exactly. Defaults to the path of the
   * URL.
   */
  readonly target?: string;
}

/**
 * The host methods for accounts and browsers. A framework provides these methods. The application
 * provides the other host methods.
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
