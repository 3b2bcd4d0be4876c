import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { z, type ZodType } from 'zod';
import { createFailedAttempts, systemRandom } from '../http/failed-attempts.ts';
import { occasionally } from '../http/occasionally.ts';
import { requestIdOf, withRequestId } from '../http/request-id.ts';
import { isLiteralTarget } from '../http/request-target.ts';
import { createAccounts } from './accounts.ts';
import { createAuth } from './auth.ts';
import { mergeConfig, validateConfig } from './config.ts';
import type {
  Accounts,
  Application,
  ApplicationDefinition,
  Auth,
  ConfigMap,
  ConfigurationProblem,
  Connection,
  Environment,
  Middleware,
  Route,
} from './contracts.ts';
import type { Migration } from '../sql/schema.ts';
import { limitBody } from './http/body-limit.ts';
import { ConfigurationError, isConfigurationError, isOverloaded } from '../contracts/errors.ts';
import { clientAddressOf } from './client-address.ts';
import { checkCsrf, createCsrfTokens, type CsrfTokens } from './csrf.ts';
import { migrate } from './database/migrate.ts';
import { openDatabase } from './database/open-database.ts';
import { accountsMigration } from './database-accounts.ts';
import { loadEnvironment } from './environment.ts';
import { errorAnswer, errorJson } from './error-answers.ts';
import { ErrorHandler } from './error-handler.ts';
import { HttpError } from './errors.ts';
import { createEvents } from './events.ts';
import {
  createKnownBrowsers,
  secretsMigration,
  type KnownBrowser,
  type KnownBrowsers,
} from './known-browsers.ts';
import { openLog } from './log.ts';
import { migrationStatus } from '../sql/migrations.ts';
import { loginRoutes, logoutRoute } from './login.ts';
import { argon2idHasher } from './password-hasher.ts';
import { publicUrlSchema } from './public-url.ts';
import {
  addressAtHand,
  auth,
  browserAtHand,
  clientAddress,
  requestIdAtHand,
  runWithContext,
  session,
  type RequestContext,
} from './request-context.ts';
import { createRoutes, type MatchedRoute } from './routes.ts';
import { createSessions, sessionsMigration, type RequestSession, type Sessions } from './sessions.ts';
import { guardSignIn } from './sign-in.ts';
import { createViews } from './views.ts';

/** Describes an application; nothing is opened until it is started. */
export function defineApplication(definition: ApplicationDefinition): ApplicationDefinition {
  return definition;
}

/** The kit's migrations as far as the application needs them, the plugins' and its own. */
export function migrationsOf(definition: ApplicationDefinition): readonly Migration[] {
  return [
    ...(definition.accounts === undefined ? [] : [sessionsMigration, accountsMigration, secretsMigration]),
    ...(definition.plugins ?? []).flatMap((plugin) => plugin.migrations),
    ...(definition.migrations ?? []),
  ];
}

/** By way of the folder above: what is published has the code in another folder beside. */
const KIT_VIEWS = path.join(import.meta.dirname, '..', 'host', 'views');
const FOURTEEN_DAYS = 14 * 24 * 3600;
/** In seconds. The ends of longer lifetimes are no dates. */
const A_CENTURY = 3_155_760_000;

/** The kit's own keys of the configuration. */
function kitConfiguration(mode: Application['mode']) {
  return {
    public_url: publicUrlSchema(mode),
    csrf_exempt_routes: z.record(z.string(), z.boolean({ error: 'must be true or false' }), {
      error: 'must be a map of route names to true or false',
    }),
    database_url: z.string({ error: 'must be a URL such as sqlite:storage/app.sqlite' }),
    body_limit: z.int({ error: 'must be a whole number of bytes' }).min(1024, 'must be at least 1024 bytes'),
    trusted_proxies: z
      .int({ error: 'must be the number of proxies in front of the application' })
      .min(0, 'must be 0 or more'),
    session_ttl: z
      .int({ error: 'must be a whole number of seconds' })
      .min(60, 'must be at least 60 seconds')
      .max(A_CENTURY, `must be at most ${A_CENTURY} seconds, a century`),
    log: z.strictObject({
      path: z.string({ error: 'must be a file name, or - for standard output' }),
      level: z.enum(['debug', 'info', 'warning', 'error'], {
        error: 'must be debug, info, warning or error',
      }),
    }),
  } satisfies Readonly<Record<string, ZodType>>;
}

type KitConfig = {
  [Key in keyof ReturnType<typeof kitConfiguration>]: z.output<ReturnType<typeof kitConfiguration>[Key]>;
};

/** How an application is started. */
export interface StartOptions {
  /** In the place of the process's own environment. */
  readonly env?: Environment;
  /** Where a `log:path` of `-` leads: `stdout` unless that is for what a command prints. */
  readonly standardOutput?: 'stdout' | 'stderr';
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /** From 0 up to, and not including, 1; the system's random source unless a test says otherwise. */
  readonly random?: () => number;
}

/** The `log:path` that is no file. */
export const STANDARD_OUTPUT = '-';

/**
 * Starts an application: reads the environment and the configuration, opens the log and the store, lets the plugins and
 * the application register their parts. Throws a ConfigurationError that names every problem; nothing stays open then.
 */
export async function startApplication(
  definition: ApplicationDefinition,
  options: StartOptions = {},
): Promise<Application> {
  requirePlugins(definition);
  const env = loadEnvironment(definition.directory, options.env);
  const mode = env['APP_ENV'] === 'dev' ? 'dev' : 'prod';
  const storageDirectory = path.resolve(definition.directory, env['STORAGE_DIR'] ?? 'storage');
  const config = readConfiguration(definition, env, mode, storageDirectory);
  const kit = config as unknown as KitConfig;

  const { standardOutput = 'stdout' } = options;
  const file =
    kit.log.path === STANDARD_OUTPUT ? standardOutput : path.resolve(definition.directory, kit.log.path);
  const log = openLog({ file, level: kit.log.level });
  const opened = { log: () => log.close(), database: async () => {} };
  try {
    const database = openDatabase(kit.database_url, { directory: definition.directory });
    opened.database = () => database.close();
    const { clock = Date.now, random = systemRandom } = options;
    const given = { definition, env, mode, storageDirectory, config, kit, clock, random } as const;
    return await assemble({ ...given, log, database });
  } catch (error) {
    await opened.database();
    await opened.log();
    throw error;
  }
}

/** Throws a ConfigurationError for what stands among the plugins and is none. */
export function requirePlugins({ plugins = [] }: ApplicationDefinition): void {
  const problems = plugins.flatMap((plugin: unknown, index): readonly ConfigurationProblem[] => {
    const key = `plugins:${index}`;
    if (typeof plugin === 'function') {
      const name = plugin.name === '' ? 'it' : plugin.name;
      return [{ key, message: `is a function, not what it returns; call it: ${name}()` }];
    }
    const isPlugin =
      typeof plugin === 'object' && plugin !== null && 'register' in plugin && 'commands' in plugin;
    return isPlugin ? [] : [{ key, message: 'is no plugin; give what oauthServer() or another one returns' }];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function readConfiguration(
  definition: ApplicationDefinition,
  env: Environment,
  mode: Application['mode'],
  storageDirectory: string,
): ConfigMap {
  const plugins = definition.plugins ?? [];
  const defaults = {
    csrf_exempt_routes: {},
    database_url: env['DATABASE_URL'] ?? `sqlite:${path.join(storageDirectory, 'app.sqlite')}`,
    body_limit: 1024 * 1024,
    trusted_proxies: 0,
    session_ttl: FOURTEEN_DAYS,
    log: { path: path.join('logs', 'app.log'), level: 'info' },
  };
  const own = typeof definition.config === 'function' ? definition.config(env) : definition.config;
  const merged = mergeConfig(
    defaults,
    ...plugins.map(({ defaults: given }) => (typeof given === 'function' ? given(env) : given)),
    own,
  );
  const schemas = Object.assign({}, kitConfiguration(mode), ...plugins.map((plugin) => plugin.configuration));
  const problems: ConfigurationProblem[] = [];
  if (!['dev', 'prod', undefined].includes(env['APP_ENV'])) {
    problems.push({ key: 'APP_ENV', message: 'must be dev or prod' });
  }
  try {
    const config = validateConfig(merged, schemas);
    for (const plugin of plugins) problems.push(...(plugin.problems?.(config) ?? []));
    if (problems.length === 0) return config;
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    problems.push(...error.problems);
  }
  throw new ConfigurationError(problems);
}

interface Parts {
  readonly definition: ApplicationDefinition;
  readonly env: Environment;
  readonly mode: Application['mode'];
  readonly storageDirectory: string;
  readonly config: ConfigMap;
  readonly kit: KitConfig;
  readonly log: ReturnType<typeof openLog>;
  readonly database: ReturnType<typeof openDatabase>;
  readonly clock: () => number;
  readonly random: () => number;
}

async function assemble(parts: Parts): Promise<Application> {
  const { definition, kit, log, database } = parts;
  const plugins = definition.plugins ?? [];
  // A line each: a flood of sign-ins must not keep the applications of people out.
  const passwordHasher = argon2idHasher({ atOnce: 1 });
  const forPeople = { database, passwordHasher: argon2idHasher() };
  const origin = new URL(kit.public_url).origin;
  const secure = origin.startsWith('https:');
  const sessions =
    definition.accounts === undefined
      ? null
      : createSessions({ database, lifetime: kit.session_ttl, secure, clock: parts.clock });
  const knownBrowsers = createKnownBrowsers({ database, secure, clock: parts.clock });
  const events = createEvents(log);
  const accounts = guardSignIn(createAccounts(definition.accounts?.(forPeople) ?? []), {
    failedAttempts: createFailedAttempts({ clock: parts.clock, random: parts.random }),
    address: addressAtHand,
    browser: browserAtHand,
    requestId: requestIdAtHand,
    events,
    log,
  });
  const routes = createRoutes();
  const middlewares: Middleware[] = [];
  const ownRoutes = new Set<Route>();
  /** They answer a missing CSRF token with a page. */
  const checkThemselves = new Set<Route>();
  const csrfOptions = { origin, exemptRoutes: kit.csrf_exempt_routes };
  const underWay = createUnderWay();
  const name = nameOf(parts.config, origin);
  const overloaded = occasionally((times) =>
    log.warning('Too many passwords to check: requests answered 503: {times}', { times }),
  );
  let phase: 'plugins' | 'application' | 'started' = 'plugins';

  function whileRegistering(what: string): void {
    if (phase === 'started')
      throw new Error(`${what} can only be added while the application registers its parts`);
  }

  const application: Application = {
    directory: definition.directory,
    storageDirectory: parts.storageDirectory,
    env: parts.env,
    mode: parts.mode,
    config: parts.config,
    publicUrl: origin,
    database,
    migrate: (only = () => true) =>
      migrate(
        database,
        migrationsOf(definition).filter(({ name }) => only(name)),
      ),
    migrations: () => migrationStatus(database, migrationsOf(definition)),
    accounts,
    passwordHasher,
    views: createViews([
      definition.views ?? path.join(definition.directory, 'views'),
      ...plugins.flatMap(({ views }) => (views === null ? [] : [views])),
      KIT_VIEWS,
    ]),
    events,
    log,
    services: new Map(),
    route(route) {
      whileRegistering('A route');
      routes.add(route);
      if (phase === 'application') ownRoutes.add(route);
    },
    middleware(middleware) {
      whileRegistering('A middleware');
      middlewares.push(middleware);
    },
    path: (name, parameters) => routes.path(name, parameters),
    hasRoute: (name) => routes.has(name),
    session,
    auth,
    clientAddress,
    fetch: (request, connection = { address: null }) => answer(request, connection),
    async close() {
      await within(LONGEST_CLOSE, underWay.ended());
      await database.close();
      await log.close();
    },
  };

  async function answer(request: Request, connection: Connection): Promise<Response> {
    underWay.begin();
    const requestId = requestIdOf(request);
    const at: Place = { route: null };
    const finished = (response: Response) => withRequestId(withoutBody(request, response), requestId);
    try {
      const response = await dispatch(request, connection, at).catch((exception: unknown) =>
        answerException(exception, request, requestId, at),
      );
      return finished(await events.passResponse(response));
    } catch (exception) {
      // Even what a hook does wrong must not reach the caller.
      log.error('A host hook failed: {exception}', { requestId, exception });
      return finished(errorJson({ request, requestId, status: 500, headers: {} }));
    } finally {
      underWay.end();
    }
  }

  async function dispatch(sent: Request, connection: Connection, at: Place): Promise<Response> {
    if (connection.target !== undefined && !isLiteralTarget(connection.target)) {
      throw new HttpError(404, 'The path is not written as any route is');
    }
    const matched = routes.match(sent.method, pathOf(sent.url));
    at.route = matched.route.name;
    // Plugins' endpoints have limits of their own.
    const request = ownRoutes.has(matched.route) ? limitBody(sent, kit.body_limit) : sent;
    const addressOf = () => clientAddressOf(request, connection.address, kit.trusted_proxies);
    if (sessions === null) {
      const withoutSession = {
        session: null,
        auth: null,
        csrf: null,
        knownBrowser: null,
        get clientAddress() {
          return addressOf();
        },
        get requestId() {
          return requestIdOf(request);
        },
      };
      return runWithContext(withoutSession, () => run(matched, request));
    }
    const context = new KitRequest({ sessions, knownBrowsers, accounts, request, addressOf, secure });
    return runWithContext(context, async () => {
      const checked = checkThemselves.has(matched.route)
        ? request
        : await checkCsrf(request, matched.route, context, csrfOptions);
      return withCookies(await run(matched, checked), context.setCookies());
    });
  }

  async function run(matched: MatchedRoute, request: Request): Promise<Response> {
    const answered: unknown = await handle(matched, request);
    if (isResponse(answered)) return answered;
    throw new TypeError(
      `The handler of the route ${matched.route.name}, or a middleware around it, gave ${typeof answered} where a ` +
        'Response belongs; a return may be missing',
    );
  }

  /** The application's own routes run inside the middlewares; those of plugins protect themselves. */
  async function handle({ route, parameters }: MatchedRoute, request: Request): Promise<Response> {
    if (!ownRoutes.has(route) || middlewares.length === 0) return route.handler(parameters, request);
    const from = async (index: number): Promise<Response> => {
      const middleware = middlewares[index];
      return middleware === undefined
        ? route.handler(parameters, request)
        : middleware(request, () => from(index + 1));
    };
    return from(0);
  }

  async function answerException(
    exception: unknown,
    request: Request,
    requestId: string,
    { route }: Place,
  ): Promise<Response> {
    const answered = await events.answerException(exception);
    if (answered !== null) return answered;
    const status = database.isUnavailable(exception) ? 503 : ErrorHandler.resolveStatusCode(exception);
    if (isOverloaded(exception)) overloaded();
    else if (status >= 500) log.error('The request failed: {exception}', { requestId, route, exception });
    else if (route !== null && status !== 404 && exception instanceof HttpError) {
      const { message: detail } = exception;
      log.info('{route} refused: {status} ({detail})', { route, requestId, status, detail });
    }
    const own = exception instanceof HttpError ? exception.headers : {};
    const headers = status === 503 ? { 'Retry-After': '2', ...own } : own;
    return errorAnswer({ views: application.views, log, name }, { request, requestId, status, headers });
  }

  for (const plugin of plugins) await plugin.register(application);
  phase = 'application';
  const ownRegister = async () => {
    await definition.register?.(application);
  };
  await plugins.reduceRight<() => Promise<void>>(
    (register, { around }) => (around === undefined ? register : () => around(application, register)),
    ownRegister,
  )();
  if (definition.accounts !== undefined && !routes.has('login')) {
    const signingIn = loginRoutes(application, { name, csrf: csrfOptions, overloaded });
    for (const route of [...signingIn, logoutRoute(application)]) routes.add(route);
    for (const route of signingIn) checkThemselves.add(route);
  }
  phase = 'started';
  return application;
}

/** Not by `instanceof`: there is more than one class of them, the runtime's and that of `@hono/node-server`. */
function isResponse(answered: unknown): answered is Response {
  return typeof answered === 'object' && answered !== null && 'headers' in answered && 'status' in answered;
}

/** How far a request has come: for the log. */
interface Place {
  /** The name of its route; null when it has none. */
  route: string | null;
}

/** What one request has at hand. Most requests ask for none of it, so each is made when asked for. */
class KitRequest implements RequestContext {
  readonly #sessions: Sessions;
  readonly #knownBrowsers: KnownBrowsers;
  readonly #accounts: Accounts;
  readonly #request: Request;
  readonly #addressOf: () => string | null;
  readonly #secure: boolean;
  #session: RequestSession | null = null;
  #csrf: CsrfTokens | null = null;
  #knownBrowser: KnownBrowser | null = null;
  #auth: Auth | null = null;

  constructor(parts: {
    readonly sessions: Sessions;
    readonly knownBrowsers: KnownBrowsers;
    readonly accounts: Accounts;
    readonly request: Request;
    readonly addressOf: () => string | null;
    readonly secure: boolean;
  }) {
    this.#secure = parts.secure;
    this.#addressOf = parts.addressOf;
    this.#sessions = parts.sessions;
    this.#knownBrowsers = parts.knownBrowsers;
    this.#accounts = parts.accounts;
    this.#request = parts.request;
  }

  get session(): RequestSession {
    return (this.#session ??= this.#sessions.of(this.#request));
  }

  get auth(): Auth {
    return (this.#auth ??= createAuth(this.session, this.#accounts, this.csrf));
  }

  get clientAddress(): string | null {
    return this.#addressOf();
  }

  get requestId(): string {
    return requestIdOf(this.#request);
  }

  get csrf(): CsrfTokens {
    const [request, session, secure] = [this.#request, this.session, this.#secure];
    return (this.#csrf ??= createCsrfTokens({ request, session, secure }));
  }

  get knownBrowser(): KnownBrowser {
    return (this.#knownBrowser ??= this.#knownBrowsers.of(this.#request));
  }

  setCookies(): readonly string[] {
    const cookies = [this.#session, this.#csrf, this.#knownBrowser].map((each) => each?.setCookie());
    return cookies.filter((cookie) => typeof cookie === 'string');
  }
}

/** Counts what is under way. */
function createUnderWay() {
  let count = 0;
  let told: (() => void) | null = null;
  return {
    begin() {
      count += 1;
    },
    end() {
      count -= 1;
      if (count === 0) told?.();
    },
    /** When nothing is any more. */
    ended: () =>
      new Promise<void>((resolve) => {
        if (count === 0) resolve();
        else told = resolve;
      }),
  };
}

/** The path in the URL of a request, which is absolute and normalised. */
function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}

/** How long what is under way may take when the application is closed, in milliseconds. */
const LONGEST_CLOSE = 10_000;

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([work, setTimeout(milliseconds, undefined, { signal: waiting.signal }).catch(() => {})]);
  waiting.abort();
}

/** What people know the application by: the name the authorization server shows them, or else its host. */
function nameOf(config: ConfigMap, publicUrl: string): string {
  const named = [config['name'], (config['oauth_server'] as ConfigMap | undefined)?.['name']];
  return named.find((name) => typeof name === 'string') ?? new URL(publicUrl).host;
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  if (cookies.length === 0) return response;
  const headers = new Headers(response.headers);
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

function withoutBody(request: Request, response: Response): Response {
  if (request.method !== 'HEAD') return response;
  return new Response(null, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}
