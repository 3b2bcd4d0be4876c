import path from 'node:path';
import { createFailedAttempts, systemRandom } from '../http/failed-attempts.ts';
import { currentRequestId, withCurrentRequestId } from '../http/context.ts';
import type { WaitingFor } from '../contracts/waiting.ts';
import { throttleLog } from '../http/throttle-log.ts';
import { createSpeaking } from '../words/speaking.ts';
import { migrationStatus } from '../sql/migrations.ts';
import { printMigrations } from '../sql/print-migrations.ts';
import type { Migration } from '../sql/schema.ts';
import { createAccounts } from './accounts/accounts.ts';
import { createBranding } from '../defaults/branding/branding.ts';
import {
  applicationName,
  brandingOf,
  directoryOf,
  readConfiguration,
  requirePlugins,
  STANDARD_OUTPUT,
} from './configuration.ts';
import type { Configuration } from './configuration.ts';
import type {
  Application,
  ApplicationDefinition,
  Environment,
  Middleware,
  OpenedDatabase,
  Plugin,
  Route,
  Timer,
} from './contracts.ts';
import { accountsMigration } from './accounts/database-accounts.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open-database.ts';
import { systemTimer } from './database/timer.ts';
import { createDispatcher } from './dispatch.ts';
import { createEvents } from './events.ts';
import { createKnownBrowsers, secretsMigration } from './accounts/known-browsers.ts';
import type { Log } from '../contracts/log.ts';
import { openLog, type ClosableLog } from '../defaults/log.ts';
import { loginRoutes, logoutRoute } from './accounts/login.ts';
import { argon2idHasher } from './accounts/password-hasher.ts';
import {
  currentAddress,
  auth,
  currentBrowser,
  clientAddress,
  createRequestContexts,
  session,
} from './accounts/request-context.ts';
import { createRoutes } from './http/routes.ts';
import type { ApplicationInput, ConfigInput, NoSections } from './typed-configuration.ts';
import { sessionsMigration } from './accounts/session-rows.ts';
import { createSessions } from './accounts/sessions.ts';
import { guardSignIn } from './accounts/sign-in.ts';
import { builtInFolder, createViews, SHARED_VIEWS } from '../defaults/views.ts';

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

const KIT_VIEWS = builtInFolder('host', 'views');

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
    database = openStore(definition, kit, { timer, log });
    return await assemble({ definition, configuration, log, database, clock, random });
  } catch (error) {
    await database?.close();
    await log.close();
    throw error;
  }
}

/** The application's own, or the one of `database_url`. */
function openStore(
  definition: ApplicationDefinition,
  kit: Configuration['kit'],
  { timer, log }: { readonly timer: Timer; readonly log: Log },
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

interface Parts {
  readonly definition: ApplicationDefinition;
  readonly configuration: Configuration;
  readonly log: ClosableLog;
  readonly database: OpenedDatabase;
  readonly clock: () => number;
  readonly random: () => number;
}

async function assemble(parts: Parts): Promise<Application> {
  const { definition, log, database, clock, random } = parts;
  const { config, kit, env, mode, storageDirectory } = parts.configuration;
  const { plugins = [] } = definition;
  const directory = directoryOf(definition);
  const origin = new URL(kit.public_url).origin;
  const { base_path: basePath, base_path_stripped: stripped } = kit;
  // What a proxy takes away is missing in the paths that arrive, and not in those that browsers are given.
  const [removed, mountPath] = stripped ? [basePath, ''] : ['', basePath];
  const cookies = { secure: origin.startsWith('https:'), basePath };
  const name = applicationName(config, origin);
  const logOverload = throttleLog((times) =>
    log.warning('Too many passwords to check: requests answered 503: {times}', { times }),
  );

  const events = createEvents(log);
  const viewsFolder = definition.views ?? path.join(directory, 'views');
  const speaking = createSpeaking({
    ...plugins.find((plugin) => plugin.words !== undefined)?.words?.(config),
    folder: path.join(viewsFolder, 'words'),
  });
  const branding = createBranding(brandingOf(config).branding, { directory, basePath });
  const views = createViews(
    [
      viewsFolder,
      ...plugins.flatMap((plugin) => (plugin.views === null ? [] : [plugin.views])),
      KIT_VIEWS,
      SHARED_VIEWS,
    ],
    { reloads: mode === 'dev', data: branding === null ? {} : { branding: branding.view } },
  );
  // Two queues: a flood of sign-ins must not keep applications from authenticating with their secrets.
  const passwordHasher = argon2idHasher({ atOnce: 1 });
  const providers = definition.accounts?.({ database, passwordHasher: argon2idHasher() }) ?? [];
  const accounts = guardSignIn(createAccounts(providers), {
    failedAttempts: createFailedAttempts({ clock, random }),
    address: currentAddress,
    browser: currentBrowser,
    requestId: currentRequestId,
    events,
    log,
  });
  const hasAccounts = definition.accounts !== undefined;
  const takesDpop = plugins.some((plugin) => plugin.takesDpop?.(config) === true);
  const sessions = hasAccounts
    ? createSessions({ database, lifetime: kit.session_ttl, cookies, takesDpop, clock })
    : null;
  const knownBrowsers = createKnownBrowsers({ database, cookies, takesDpop, clock });
  const csrf = { origin, exemptRoutes: kit.csrf_exempt_routes, takesDpop };

  const routes = createRoutes(removed);
  const ownRoutes = new Set<Route>();
  /** Added when all others are. */
  const yielding: Route[] = [];
  const middlewares: Middleware[] = [];
  const checksOwnCsrf = new Set<Route>();
  const dispatcher = createDispatcher({
    routes,
    ownRoutes,
    middlewares,
    checksOwnCsrf,
    csrf: hasAccounts ? csrf : null,
    createContext: createRequestContexts({ sessions, knownBrowsers, accounts, cookies, takesDpop }),
    bodyLimit: kit.body_limit,
    trustedProxies: kit.trusted_proxies,
    events,
    database,
    views,
    speaking,
    log,
    name,
    logOverload,
  });

  let phase: 'plugins' | 'application' | 'started' = 'plugins';
  function requireRegistering(what: string): void {
    if (phase === 'started')
      throw new Error(`${what} can only be added while the application registers its parts`);
  }

  const application: Application = {
    directory,
    storageDirectory,
    env,
    mode,
    config,
    publicUrl: origin,
    basePath,
    database,
    pool:
      definition.database !== undefined || database.dialect === 'sqlite'
        ? null
        : { size: kit.database_pool_size, lifetime: kit.database_connection_lifetime },
    migrate: (only = () => true, onStep) =>
      migrate(
        database,
        migrationsOf(definition).filter(({ name }) => only(name)),
        onStep,
      ),
    printMigrations: () => printMigrations(database, migrationsOf(definition)),
    migrations: () => migrationStatus(database, migrationsOf(definition)),
    accounts,
    passwordHasher,
    views,
    speaking,
    branding,
    events,
    log,
    telemetry: definition.telemetry ?? null,
    services: new Map(),
    route(route) {
      requireRegistering('A route');
      if (route.yields === true) yielding.push(route);
      else routes.add(route);
      if (phase === 'application') ownRoutes.add(route);
    },
    middleware(middleware) {
      requireRegistering('A middleware');
      middlewares.push(middleware);
    },
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

  for (const plugin of plugins) await plugin.register(application);
  phase = 'application';
  await registerOwnParts(definition, application);
  if (hasAccounts && !routes.has('login')) {
    const places = { mountPath, home: `${removed}/` };
    const signIn = loginRoutes(application, {
      name,
      csrf,
      logOverload,
      scripts: kit.sign_in_scripts,
      showsPassword: kit.sign_in_show_password,
      links: kit.sign_in_links,
      waitingFor: (request, returnTo) => firstWaiting(plugins, application, request, returnTo),
      ...places,
    });
    for (const route of [...signIn, logoutRoute(application, places)]) routes.add(route);
    for (const route of signIn) checksOwnCsrf.add(route);
  }
  for (const { name: logo, path: below, respond } of branding?.logos ?? []) {
    const route = { name: logo, methods: ['GET'], path: `${mountPath}${below}` } as const;
    yielding.push({ ...route, handler: async (_, request) => respond(request) });
  }
  for (const route of yielding) {
    if (!routes.has(route.name) && !routes.answers(route.path)) routes.add(route);
  }
  phase = 'started';
  return application;
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
