import path from 'node:path';
import { withCurrentRequestId } from '../http/context.ts';
import { systemRandom } from '../http/failed-attempts.ts';
import type { Log } from '../contracts/log.ts';
import type { WaitingFor } from '../contracts/waiting.ts';
import { openLog, type ClosableLog } from '../defaults/log.ts';
import { dialectOf } from '../../../sql/src/dialects.ts';
import { migrationStatus } from '../../../sql/src/migrations.ts';
import { printMigrations } from '../../../sql/src/print-migrations.ts';
import type { Migration } from '../../../sql/src/schema.ts';
import { accountsMigration } from '../../../kit/src/accounts/database-accounts.ts';
import { secretsMigration } from '../../../kit/src/accounts/known-browsers.ts';
import { SignInPage } from '../../../kit/src/accounts/login.ts';
import { auth, clientAddress, session } from '../../../kit/src/accounts/request-context.ts';
import { sessionsMigration } from '../../../kit/src/accounts/session-rows.ts';
import { directoryOf, readConfiguration, requirePlugins, STANDARD_OUTPUT } from './configuration.ts';
import type { KitConfig } from './configuration.ts';
import type {
  Application,
  ApplicationDefinition,
  Environment,
  OpenedDatabase,
  Plugin,
  Timer,
} from './contracts.ts';
import { migrate } from '../../../sql/src/migrate.ts';
import { openDatabase } from '../../../sql/src/open-database.ts';
import { systemTimer } from '../../../sql/src/timer.ts';
import { Dispatcher } from '../../../kit/src/dispatch.ts';
import { Kit } from '../../../kit/src/kit.ts';
import { Registration } from '../../../kit/src/registration.ts';
import type { ApplicationInput, ConfigInput, NoSections } from './typed-configuration.ts';

/**
 * Describes an application; nothing is opened until it is started. A key of the configuration that neither the kit, nor one of the
 * plugins, nor `configuration` knows is an error of the compiler.
 */
export function defineApplication<
  const Plugins extends readonly Plugin[] = readonly [],
  Own extends object = NoSections,
  const Returned extends ConfigInput<Plugins, Own> = ConfigInput<Plugins, Own>,
>(definition: ApplicationInput<Plugins, Own, Returned>): ApplicationDefinition {
  return definition as ApplicationDefinition;
}

/** The kit's migrations as far as the application needs them, the plugins' and its own. */
export function migrationsOf(definition: ApplicationDefinition): readonly Migration[] {
  return [
    ...(definition.accounts === undefined ? [] : [sessionsMigration, accountsMigration, secretsMigration]),
    ...(definition.plugins ?? []).flatMap((plugin) => plugin.migrations),
    ...(definition.migrations ?? []),
  ];
}

/** How an application is started. */
export interface StartOptions {
  /** Replaces the process's own environment. */
  readonly env?: Environment;
  /** Where a `log:path` of `-` leads: `stdout` unless that is for what a command prints. */
  readonly standardOutput?: 'stdout' | 'stderr';
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /** Measures how long connections and transactions of the store last; the system's unless a test says otherwise. */
  readonly timer?: Timer;
  /** From 0 up to, and not including, 1; the system's random source unless a test says otherwise. */
  readonly random?: () => number;
}

/**
 * Starts an application: reads the environment and the configuration, opens the log and the store, lets the plugins and
 * the application register their parts. Throws a ConfigurationError that names every problem; nothing stays open then.
 */
export async function startApplication(
  definition: ApplicationDefinition,
  options: StartOptions = {},
): Promise<Application> {
  requirePlugins(definition);
  const configuration = readConfiguration(definition, options.env);
  const { kit } = configuration;
  const { standardOutput = 'stdout', clock = Date.now, random = systemRandom, timer = systemTimer } = options;
  const directory = directoryOf(definition);
  const file = kit.log.path === STANDARD_OUTPUT ? standardOutput : path.resolve(directory, kit.log.path);
  const opened = openLog({ file, level: kit.log.level });
  const log: ClosableLog = { ...withCurrentRequestId(opened), close: () => opened.close() };
  let database: OpenedDatabase | null = null;
  try {
    database = openStore(definition, kit, timer, log);
    return await assemble(new Kit(definition, configuration, log, database, clock, random), log);
  } catch (error) {
    await database?.close();
    await log.close();
    throw error;
  }
}

/** The application's own, or the one of `database_url`. */
function openStore(
  definition: ApplicationDefinition,
  kit: KitConfig,
  timer: Timer,
  log: Log,
): OpenedDatabase {
  const chosen = { timer, ...(kit.database_schema === '' ? {} : { schema: kit.database_schema }) };
  if (definition.database !== undefined) return definition.database.open({ ...chosen, log });
  return openDatabase(kit.database_url, {
    directory: directoryOf(definition),
    poolSize: kit.database_pool_size,
    connectionLifetime: kit.database_connection_lifetime,
    statementTimeout: kit.database_statement_timeout,
    ...chosen,
  });
}

async function assemble(kit: Kit, log: ClosableLog): Promise<Application> {
  const registration = new Registration(kit.removed);
  const dispatcher = new Dispatcher(kit, registration);
  const application = describeApplication(kit, log, registration, dispatcher);
  for (const plugin of kit.plugins) await plugin.register(application);
  registration.beginOwn();
  await registerOwnParts(kit.definition, application);
  addKitRoutes(kit, registration, application);
  registration.end();
  return application;
}

function describeApplication(
  kit: Kit,
  log: ClosableLog,
  registration: Registration,
  dispatcher: Dispatcher,
): Application {
  const { definition, config, database } = kit;
  const { config: all, env, mode, storageDirectory } = kit.configuration;
  const { routes } = registration;
  const isServersPool = definition.database === undefined && !dialectOf(database).isEmbedded;
  return {
    directory: kit.directory,
    storageDirectory,
    env,
    mode,
    config: all,
    publicUrl: kit.origin,
    basePath: config.base_path,
    database,
    pool: isServersPool
      ? { size: config.database_pool_size, lifetime: config.database_connection_lifetime }
      : null,
    migrate: (only = () => true, onStep) =>
      migrate(
        database,
        migrationsOf(definition).filter(({ name }) => only(name)),
        onStep,
      ),
    printMigrations: () => printMigrations(database, migrationsOf(definition)),
    migrations: () => migrationStatus(database, migrationsOf(definition)),
    accounts: kit.accounts,
    passwordHasher: kit.passwordHasher,
    views: kit.views,
    speaking: kit.speaking,
    branding: kit.branding,
    events: kit.events,
    log,
    telemetry: definition.telemetry ?? null,
    services: new Map(),
    route: (route) => registration.addRoute(route),
    middleware: (middleware) => registration.addMiddleware(middleware),
    path: (name, parameters) => routes.path(name, parameters),
    hasRoute: (name) => routes.has(name),
    session,
    auth,
    clientAddress,
    fetch: (request, connection = { address: null }) => dispatcher.fetch(request, connection),
    async close() {
      await dispatcher.ended();
      await database.close();
      await log.close();
    },
  };
}

/** The sign-in page of an application that has none of its own, and its logo. */
function addKitRoutes(kit: Kit, registration: Registration, application: Application): void {
  const { routes } = registration;
  if (kit.csrf !== null && !routes.has('login')) {
    const { config, name, csrf, logOverload, mountPath } = kit;
    const page = new SignInPage(application, {
      name,
      csrf,
      logOverload,
      scripts: config.sign_in_scripts,
      showsPassword: config.sign_in_show_password,
      links: config.sign_in_links,
      waitingFor: (request, returnTo) => firstWaiting(kit.plugins, application, request, returnTo),
      mountPath,
      home: `${kit.removed}/`,
    });
    for (const route of page.signInRoutes()) routes.add(route, 'sign-in');
    routes.add(page.signOutRoute());
  }
  for (const { name, path: below, respond } of kit.branding?.logos ?? []) {
    const handler = async (_: unknown, request: Request) => respond(request);
    registration.addLast({ name, methods: ['GET'], path: `${kit.mountPath}${below}`, handler });
  }
}

/** Of the first plugin that sent somebody to sign in. */
async function firstWaiting(
  plugins: readonly Plugin[],
  application: Application,
  request: Request,
  returnTo: string,
): Promise<WaitingFor | null> {
  for (const plugin of plugins) {
    const waiting = await plugin.waitingFor?.(application, request, returnTo);
    if (waiting !== undefined && waiting !== null) return waiting;
  }
  return null;
}

/** The first plugin's `around` is the outermost. */
function registerOwnParts(definition: ApplicationDefinition, application: Application): Promise<void> {
  const register = async () => {
    await definition.register?.(application);
  };
  return (definition.plugins ?? []).reduceRight<() => Promise<void>>(
    (inner, { around }) => (around === undefined ? inner : () => around(application, inner)),
    register,
  )();
}
