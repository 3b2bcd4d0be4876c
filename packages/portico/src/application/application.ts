import path from 'node:path';
import { isNativeError } from 'node:util/types';
import {
  type BegunStep,
  ConfigurationError,
  type Log,
  migrate,
  type Migration,
  migrationStatus,
  openDatabase,
  type OpenedDatabase,
  printMigrations,
  systemTimer,
  type Timer,
  getDialect,
} from '@portico/sql';
import type { PasswordHasher } from '../host/password-hasher.ts';
import type { Branding } from '../pages/branding.ts';
import { createArgon2id } from '../host/argon2id.ts';
import { openLog, type ClosableLog } from '../host/log.ts';
import { BUILT_IN_VIEWS, createViews, type Views } from '../pages/views.ts';
import { withCurrentRequestId } from '../http/context.ts';
import { systemRandom } from '../http/failed-attempts.ts';
import { readPath } from '../http/request-target.ts';
import { Speaking } from '../pages/speaking.ts';
import {
  getDirectory,
  readConfiguration,
  requirePlugins,
  STANDARD_OUTPUT,
} from './configuration.ts';
import type { KitConfig } from './keys.ts';
import type { Application, Connection } from './started-application.ts';
import type { ApplicationDefinition, ApplicationParts } from './definition.ts';
import type { ConfigMap, Environment } from './config-map.ts';
import type { Middleware, Route, RouteParameters } from './routes.ts';
import type { Plugin } from './plugin.ts';
import { HostEvents } from './events.ts';
import type { ApplicationInput, ConfigInput, NoSections } from './typed-configuration.ts';

/**
 * Describes an application. Opens no files or connections until it starts. TypeScript reports
 * configuration keys that neither Portico, nor a plugin, nor `configuration` declares.
 *
 * @example
 * export default defineApplication({ config, plugins: [oauthServer({ host })] });
 */
export function defineApplication<
  const Plugins extends readonly Plugin[] = readonly [],
  Own extends object = NoSections,
  const Returned extends ConfigInput<Plugins, Own> = ConfigInput<Plugins, Own>,
>(definition: ApplicationInput<Plugins, Own, Returned>): ApplicationDefinition {
  return definition as ApplicationDefinition;
}

/**
 * Returns the migrations of the framework, the plugins and the application. `migrate` applies them
 * in the order of their names.
 *
 * `config` is the validated configuration, as in `Application.config`. Without it, migrations that
 * only some settings need are omitted.
 *
 * @example
 * await migrate(database, migrationsOf(definition, application.config));
 */
export function migrationsOf(
  definition: ApplicationDefinition,
  config: ConfigMap = {},
): readonly Migration[] {
  return [
    ...(definition.framework?.migrations(definition) ?? []),
    ...(definition.plugins ?? []).flatMap(({ migrations }) =>
      typeof migrations === 'function' ? migrations(config) : migrations,
    ),
    ...(definition.migrations ?? []),
  ];
}

/** The options for starting an application. */
export interface StartOptions {
  /** Environment variables to use instead of those of the process. */
  readonly env?: Environment;
  /**
   * Where the log goes if `log:path` is `-`. Use `stderr` for commands that print data to standard
   * output. Default: `stdout`.
   */
  readonly standardOutput?: 'stdout' | 'stderr';
  /**
   * Returns the time in milliseconds since 1970. Tests can pass another clock. Default: the system
   * clock.
   */
  readonly clock?: () => number;
  /**
   * The timer for the time limits of database connections and transactions. Tests can pass another
   * timer. Default: the system timer.
   */
  readonly timer?: Timer;
  /**
   * Returns a random number from 0 to less than 1. Tests can pass another source. Default: the
   * system's random source.
   */
  readonly random?: () => number;
}

/**
 * Starts an application. Reads the environment and the configuration, opens the log and the
 * database, and calls `register` of each plugin and of the application.
 *
 * Throws a ConfigurationError with all problems of the configuration. If the start fails, closes
 * everything that it has opened.
 *
 * @example
 * const application = await startApplication(definition);
 */
export async function startApplication(
  definition: ApplicationDefinition,
  options: StartOptions = {},
): Promise<Application> {
  requirePlugins(definition);
  const configuration = readConfiguration(definition, options.env);
  const { kit } = configuration;
  const {
    standardOutput = 'stdout',
    clock = Date.now,
    random = systemRandom,
    timer = systemTimer,
  } = options;
  const { path: logPath, level } = kit.log;
  const file =
    logPath === STANDARD_OUTPUT ? standardOutput : path.resolve(getDirectory(definition), logPath);
  const opened = openApplicationLog(file, level);
  const log: ClosableLog = { ...withCurrentRequestId(opened), close: () => opened.close() };
  let database: OpenedDatabase | null = null;
  try {
    database = openStore(definition, kit, { timer, log });
    const parts: ApplicationParts = { definition, configuration, log, database, clock, random };
    if (definition.framework !== undefined) return await definition.framework.start(parts);
    const application = new StartedApplication(parts);
    await application.registerParts();
    return application;
  } catch (error) {
    await attemptAll([async () => database?.close(), () => log.close()]);
    throw error;
  }
}

/** Throws a ConfigurationError for `log:path` if the file cannot be opened. */
function openApplicationLog(file: string, level: string): ClosableLog {
  try {
    return openLog({ file, level });
  } catch (error) {
    if (!(isNativeError(error) && 'syscall' in error)) throw error;
    const message =
      `is ${file}, which this process cannot open (${error.message}); choose a file that this ` +
      'process can write, or "-" for standard output';
    throw new ConfigurationError([{ key: 'log:path', message }]);
  }
}

/** Opens the application's own database, or else the one at `database_url`. */
function openStore(
  definition: ApplicationDefinition,
  kit: KitConfig,
  { timer, log }: { readonly timer: Timer; readonly log: Log },
): OpenedDatabase {
  const chosen = { timer, ...(kit.database_schema === '' ? {} : { schema: kit.database_schema }) };
  if (definition.database !== undefined) return definition.database.open({ ...chosen, log });
  return openDatabase(kit.database_url, {
    directory: getDirectory(definition),
    poolSize: kit.database_pool_size,
    connectionLifetime: kit.database_connection_lifetime,
    statementTimeout: kit.database_statement_timeout,
    ...chosen,
  });
}

/** Runs all of the work in order, even if some fails. Returns the errors. */
async function attemptAll(work: readonly (() => Promise<void>)[]): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  for (const each of work) {
    try {
      await each();
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}

type Phase = 'plugins' | 'application' | 'started';

/**
 * A started application into which Portico is mounted. A framework extends this class with
 * accounts, sessions and a router.
 */
export class StartedApplication implements Application {
  readonly directory: string;
  readonly storageDirectory: string;
  readonly env: Environment;
  readonly mode: Application['mode'];
  readonly config: Application['config'];
  readonly publicUrl: string;
  readonly basePath: string;
  readonly database: OpenedDatabase;
  readonly pool: Application['pool'];
  readonly passwordHasher: Application['passwordHasher'];
  readonly views: Views;
  readonly speaking: Speaking;
  readonly branding: Branding | null;
  readonly events: HostEvents;
  readonly log: ClosableLog;
  readonly telemetry: Application['telemetry'];
  readonly services = new Map<string, unknown>();
  readonly host: Application['host'] = null;
  protected readonly definition: ApplicationDefinition;
  /**
   * The routes to add after all others. A route is skipped if another one has its name or answers
   * its path.
   */
  protected readonly yielding: Route[] = [];
  protected readonly middlewares: Middleware[] = [];
  protected phase: Phase = 'plugins';
  readonly #routes = new Map<string, Route>();
  readonly #closing: (() => Promise<void>)[] = [];
  #closed: Promise<void> | null = null;

  /** `views`: the folders with the framework's views, which override Portico's. */
  constructor(
    parts: ApplicationParts,
    views: readonly string[] = [],
    passwordHasher: PasswordHasher = createArgon2id({ atOnce: 1 }),
  ) {
    const { definition, database, log } = parts;
    const { config, kit, env, mode, storageDirectory } = parts.configuration;
    const { plugins = [] } = definition;
    this.definition = definition;
    this.directory = getDirectory(definition);
    this.storageDirectory = storageDirectory;
    this.env = env;
    this.mode = mode;
    this.config = config;
    this.publicUrl = new URL(kit.public_url).origin;
    this.basePath = kit.base_path;
    this.database = database;
    this.pool =
      definition.database !== undefined || getDialect(database).isEmbedded
        ? null
        : { size: kit.database_pool_size, lifetime: kit.database_connection_lifetime };
    this.log = log;
    this.telemetry = definition.telemetry ?? null;
    this.events = new HostEvents(log);
    const viewsFolder = definition.views ?? path.join(this.directory, 'views');
    this.speaking = new Speaking({
      ...plugins.find((plugin) => plugin.words !== undefined)?.words?.(config),
      folder: path.join(viewsFolder, 'words'),
    });
    this.branding = parts.configuration.branding;
    const ofPlugins = plugins.flatMap((plugin) => (plugin.views === null ? [] : [plugin.views]));
    this.views = createViews([viewsFolder, ...ofPlugins, ...views, BUILT_IN_VIEWS], {
      reloads: mode === 'dev',
      data: this.branding === null ? {} : { branding: this.branding.view },
    });
    this.passwordHasher = passwordHasher;
  }

  /**
   * Calls `register` of each plugin, and then of the application. The plugins' `around` hooks run
   * around the latter, with the first plugin's hook outermost. If one fails, runs the work from
   * `onClose`.
   */
  async registerParts(): Promise<void> {
    try {
      await this.#register();
    } catch (error) {
      for (const exception of await attemptAll(this.#closing))
        this.log.error('A host hook failed: {exception}', { exception });
      throw error;
    }
  }

  async #register(): Promise<void> {
    const { plugins = [], register } = this.definition;
    for (const plugin of plugins) await plugin.register(this);
    this.phase = 'application';
    const own = async () => {
      await register?.(this);
    };
    await plugins.reduceRight<() => Promise<void>>(
      (inner, { around }) => (around === undefined ? inner : () => around(this, inner)),
      own,
    )();
    this.phase = 'started';
    this.completeRoutes();
  }

  /**
   * Adds the routes of the branding files, and the routes with `yields`. Skips a route if another
   * one has its name or answers its path.
   */
  protected completeRoutes(): void {
    for (const { name, path: below, respond } of this.branding?.logos ?? []) {
      const route = { name, methods: ['GET'], path: `${this.mountPath}${below}` } as const;
      this.yielding.push({ ...route, handler: async (_, request) => respond(request) });
    }
    for (const route of this.yielding) {
      if (!this.hasRoute(route.name) && !this.answers(route)) this.add(route);
    }
  }

  /**
   * The path prefix of requests that reach the endpoints. Empty if a proxy removes the base path.
   */
  protected get mountPath(): string {
    return this.config['base_path_stripped'] === true ? '' : this.basePath;
  }

  migrate(
    only: (name: string) => boolean = () => true,
    onStep?: (step: BegunStep) => void,
  ): Promise<readonly string[]> {
    const chosen = migrationsOf(this.definition, this.config).filter(({ name }) => only(name));
    return migrate(this.database, chosen, onStep);
  }

  printMigrations(): Promise<string> {
    return printMigrations(this.database, migrationsOf(this.definition, this.config));
  }

  migrations() {
    return migrationStatus(this.database, migrationsOf(this.definition, this.config));
  }

  route(route: Route): void {
    this.requireRegistering('A route');
    if (route.yields === true) this.yielding.push(route);
    else this.add(route);
  }

  middleware(middleware: Middleware): void {
    this.requireRegistering('A middleware');
    this.middlewares.push(middleware);
  }

  protected requireRegistering(what: string): void {
    if (this.phase === 'started') throw new Error(`${what} can be added only in register()`);
  }

  protected add(route: Route): void {
    if (this.#routes.has(route.name))
      throw new Error(`Two routes have the name '${route.name}'; rename one`);
    this.#routes.set(route.name, route);
  }

  /** Returns true if another route has this path, with any method. */
  protected answers({ path }: Route): boolean {
    return [...this.#routes.values()].some((route) => route.path === path);
  }

  hasRoute(name: string): boolean {
    return this.#routes.has(name);
  }

  path(name: string, _parameters: RouteParameters = {}): string {
    const route = this.#routes.get(name);
    if (route === undefined) throw new Error(`There is no route '${name}'`);
    return `${this.mountPath === this.basePath ? '' : this.basePath}${route.path}`;
  }

  /**
   * Answers a request to a plugin's route, for the doctor. Requests from clients arrive through the
   * application's mount.
   */
  async fetch(request: Request, _connection?: Connection): Promise<Response> {
    const path = readPath(request.url);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const found = [...this.#routes.values()].find(
      (route) => route.path === path && route.methods.some((each) => each === method),
    );
    return found === undefined ? new Response(null, { status: 404 }) : found.handler({}, request);
  }

  clientAddress(): string | null {
    throw new Error(
      'clientAddress() was called outside a request, or in an application that mounts Portico',
    );
  }

  onClose(work: () => Promise<void>): void {
    this.#closing.push(work);
  }

  /** Further calls wait for the first one. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const ends = [() => this.database.close(), () => this.log.close()];
    const failures = await attemptAll([...this.#closing, ...ends]);
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '));
    if (failures.length === 1) throw failures[0];
  }
}
