import path from 'node:path';
import {
  type BegunStep,
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
import type { PasswordHasher } from '../contracts/password-hasher.ts';
import type { Branding } from '../contracts/branding.ts';
import { createArgon2id } from '../defaults/argon2id.ts';
import { openLog, type ClosableLog } from '../defaults/log.ts';
import { createViews, SHARED_VIEWS, type Views } from '../defaults/views.ts';
import { withCurrentRequestId } from '../http/context.ts';
import { systemRandom } from '../http/failed-attempts.ts';
import { readPath } from '../http/request-target.ts';
import { Speaking } from '../words/speaking.ts';
import { getDirectory, readConfiguration, requirePlugins, STANDARD_OUTPUT } from './configuration.ts';
import type { KitConfig } from './keys.ts';
import type {
  Application,
  ApplicationDefinition,
  ApplicationParts,
  Connection,
  Environment,
  Middleware,
  Plugin,
  Route,
  RouteParameters,
} from './contracts.ts';
import { HostEvents } from './events.ts';
import type { ApplicationInput, ConfigInput, NoSections } from './typed-configuration.ts';

/**
 * Describes an application. Opens nothing before it is started. The compiler rejects a
 * configuration key that neither Portico, nor a plugin, nor `configuration` knows.
 */
export function defineApplication<
  const Plugins extends readonly Plugin[] = readonly [],
  Own extends object = NoSections,
  const Returned extends ConfigInput<Plugins, Own> = ConfigInput<Plugins, Own>,
>(definition: ApplicationInput<Plugins, Own, Returned>): ApplicationDefinition {
  return definition as ApplicationDefinition;
}

/**
 * The migrations of the framework that the application needs, those of the plugins, and its own.
 */
export function migrationsOf(definition: ApplicationDefinition): readonly Migration[] {
  return [
    ...(definition.framework?.migrations(definition) ?? []),
    ...(definition.plugins ?? []).flatMap((plugin) => plugin.migrations),
    ...(definition.migrations ?? []),
  ];
}

/** Options for starting an application. */
export interface StartOptions {
  /** Used instead of the process's environment. */
  readonly env?: Environment;
  /**
   * Where a `log:path` of `-` writes to: `stdout`, unless a command prints its own output there.
   */
  readonly standardOutput?: 'stdout' | 'stderr';
  /** Milliseconds since 1970; the system's clock unless a test passes one. */
  readonly clock?: () => number;
  /**
   * Measures how long connections and transactions of the store last; the system's timer unless a
   * test passes one.
   */
  readonly timer?: Timer;
  /**
   * Returns a number from 0 up to, but not including, 1. The default is the system's random source;
   * tests pass their own.
   */
  readonly random?: () => number;
}

/**
 * Starts an application: reads the environment and the configuration, opens the log and the store,
 * and lets the plugins and the application register their parts. Throws a ConfigurationError that
 * names every problem, and leaves nothing open.
 */
export async function startApplication(
  definition: ApplicationDefinition,
  options: StartOptions = {},
): Promise<Application> {
  requirePlugins(definition);
  const configuration = readConfiguration(definition, options.env);
  const { kit } = configuration;
  const { standardOutput = 'stdout', clock = Date.now, random = systemRandom, timer = systemTimer } = options;
  const directory = getDirectory(definition);
  const file = kit.log.path === STANDARD_OUTPUT ? standardOutput : path.resolve(directory, kit.log.path);
  const opened = openLog({ file, level: kit.log.level });
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
    await database?.close();
    await log.close();
    throw error;
  }
}

/** The application's own store, or that of `database_url`. */
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

type Phase = 'plugins' | 'application' | 'started';

/**
 * A started application. Used as it is by an application that mounts Portico. A framework adds its
 * own accounts, sessions and router.
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
  /** Added after all other routes, unless one of them answers the same path. */
  protected readonly yielding: Route[] = [];
  protected readonly middlewares: Middleware[] = [];
  protected phase: Phase = 'plugins';
  readonly #routes = new Map<string, Route>();

  /** A framework has its own built-in views, which come before the shared ones. */
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
    this.views = createViews([viewsFolder, ...ofPlugins, ...views, SHARED_VIEWS], {
      reloads: mode === 'dev',
      data: this.branding === null ? {} : { branding: this.branding.view },
    });
    this.passwordHasher = passwordHasher;
  }

  /**
   * Lets the plugins and the application register their parts. The first plugin's `around` is the
   * outermost.
   */
  async registerParts(): Promise<void> {
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
   * Adds the routes that come after all others: the branding's files, and those that yield to
   * another route on their path.
   */
  protected completeRoutes(): void {
    for (const { name, path: below, respond } of this.branding?.logos ?? []) {
      const route = { name, methods: ['GET'], path: `${this.mountPath}${below}` } as const;
      this.yielding.push({ ...route, handler: async (_, request) => respond(request) });
    }
    for (const route of this.yielding) {
      if (!this.hasRoute(route.name) && !this.answers(route.path)) this.add(route);
    }
  }

  /**
   * The path prefix of requests to the endpoints as they arrive. Empty if a proxy removes the base
   * path.
   */
  protected get mountPath(): string {
    return this.config['base_path_stripped'] === true ? '' : this.basePath;
  }

  migrate(
    only: (name: string) => boolean = () => true,
    onStep?: (step: BegunStep) => void,
  ): Promise<readonly string[]> {
    const chosen = migrationsOf(this.definition).filter(({ name }) => only(name));
    return migrate(this.database, chosen, onStep);
  }

  printMigrations(): Promise<string> {
    return printMigrations(this.database, migrationsOf(this.definition));
  }

  migrations() {
    return migrationStatus(this.database, migrationsOf(this.definition));
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
    if (this.phase === 'started')
      throw new Error(`${what} can only be added while the application registers its parts`);
  }

  protected add(route: Route): void {
    if (this.#routes.has(route.name)) throw new Error(`Two routes are named '${route.name}'`);
    this.#routes.set(route.name, route);
  }

  /** Whether any route answers the path, with any method. */
  protected answers(path: string): boolean {
    return [...this.#routes.values()].some((route) => route.path === path);
  }

  hasRoute(name: string): boolean {
    return this.#routes.has(name);
  }

  path(name: string, _parameters: RouteParameters = {}): string {
    const route = this.#routes.get(name);
    if (route === undefined) throw new Error(`No route is named '${name}'`);
    return `${this.mountPath === this.basePath ? '' : this.basePath}${route.path}`;
  }

  /**
   * Answers for the routes of plugins. The doctor uses this; the application's own requests come
   * through its mount.
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
      'clientAddress() was called outside of a request, or in an application that mounts Portico',
    );
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.log.close();
  }
}
