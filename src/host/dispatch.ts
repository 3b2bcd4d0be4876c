import { setTimeout } from 'node:timers/promises';
import { isOverloaded } from '../contracts/errors.ts';
import type { Log } from '../contracts/log.ts';
import { runInContext } from '../http/context.ts';
import { requestIdOf, withRequestId } from '../http/request-id.ts';
import { isLiteralTarget, pathOf } from '../http/request-target.ts';
import type { Speaking } from '../words/speaking.ts';
import type { Database } from '../sql/contract.ts';
import { resolveClientAddress } from './http/client-address.ts';
import type { Connection, Middleware, Route, Views } from './contracts.ts';
import { checkCsrf, isCsrfChecked, type CsrfOptions } from './accounts/csrf.ts';
import { errorAnswer, errorJson } from './http/error-answers.ts';
import { ErrorHandler } from './http/error-handler.ts';
import { HttpError } from './errors.ts';
import type { HostEvents } from './events.ts';
import { limitBody } from './http/body-limit.ts';
import { runWithContext, type CreateContext } from './accounts/request-context.ts';
import { MethodError, type MatchedRoute, type Routes } from './http/routes.ts';

/** The way of a request through an application. */
export interface Dispatcher {
  /** Never rejects. */
  fetch(request: Request, connection: Connection): Promise<Response>;
  /** Waits for the requests in flight, ten seconds at most. */
  ended(): Promise<void>;
}

export interface DispatcherOptions {
  readonly routes: Pick<Routes, 'match'>;
  /** The application's own: the others, those of plugins, limit their bodies and protect themselves. */
  readonly ownRoutes: ReadonlySet<Route>;
  /** Around the application's own routes, outermost first. */
  readonly middlewares: readonly Middleware[];
  /** Routes that check their CSRF token themselves, to answer a missing one with a page. */
  readonly checksOwnCsrf: ReadonlySet<Route>;
  /** Null in an application without accounts: there is nothing that a forged request could use. */
  readonly csrf: CsrfOptions | null;
  readonly createContext: CreateContext;
  /** Bytes. */
  readonly bodyLimit: number;
  /** How many proxies append to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  readonly events: Pick<HostEvents, 'answerException' | 'passResponse'>;
  readonly database: Pick<Database, 'isUnavailable'>;
  readonly views: Views;
  readonly speaking: Speaking;
  readonly log: Log;
  /** The application's name for people. */
  readonly name: string;
  /** Logs that there are more passwords to check than can be. */
  readonly logOverload: () => void;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { routes, ownRoutes, middlewares, events, database, views, speaking, log, name } = options;
  const inFlight = createInFlight();

  function fetch(request: Request, connection: Connection): Promise<Response> {
    const requestId = requestIdOf(request);
    return runInContext(undefined, requestId, () => answer(request, connection, requestId));
  }

  async function answer(request: Request, connection: Connection, requestId: string): Promise<Response> {
    inFlight.begin();
    const progress: Progress = { route: null };
    const finished = (response: Response) => withRequestId(withoutBody(request, response), requestId);
    try {
      let response: Response;
      try {
        response = await route(request, connection, progress);
      } catch (exception) {
        response = await answerException(exception, request, requestId, progress);
      }
      const passed = events.passResponse(response);
      return finished(passed instanceof Promise ? await passed : passed);
    } catch (exception) {
      // An error of a hook must not reach the caller either.
      log.error('A host hook failed: {exception}', { requestId, exception });
      return finished(errorJson({ request, requestId, status: 500, headers: {} }));
    } finally {
      inFlight.end();
    }
  }

  /** Throws, or rejects, for what is answered with an error. */
  function route(sent: Request, connection: Connection, progress: Progress): Promise<Response> {
    if (connection.target !== undefined && !isLiteralTarget(connection.target)) {
      throw new HttpError(404, 'The path is not written as any route is');
    }
    const matched = routes.match(sent.method, pathOf(sent.url));
    progress.route = matched.route.name;
    const request = ownRoutes.has(matched.route) ? limitBody(sent, options.bodyLimit) : sent;
    const address = () => resolveClientAddress(request, connection.address, options.trustedProxies);
    const context = options.createContext(request, address);
    const { csrf } = options;
    if (csrf === null) return runWithContext(context, () => handle(matched, request));
    return runWithContext(context, async () => {
      const isChecked =
        !options.checksOwnCsrf.has(matched.route) && isCsrfChecked(request, matched.route, csrf);
      const checked = isChecked ? await checkCsrf(request, context, csrf) : request;
      return withCookies(await handle(matched, checked), context.setCookies());
    });
  }

  async function handle(matched: MatchedRoute, request: Request): Promise<Response> {
    const { route, parameters } = matched;
    const isGuarded = ownRoutes.has(route) && middlewares.length > 0;
    const answered: unknown = await (isGuarded
      ? runMiddlewares(matched, request)
      : route.handler(parameters, request));
    if (isResponse(answered)) return answered;
    throw new TypeError(
      `The handler of the route ${matched.route.name}, or a middleware around it, gave ${typeof answered} where a ` +
        'Response belongs; a return may be missing',
    );
  }

  function runMiddlewares({ route, parameters }: MatchedRoute, request: Request): Promise<Response> {
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
    { route }: Progress,
  ): Promise<Response> {
    const answered = await events.answerException(exception);
    if (answered !== null) return answered;
    const status = database.isUnavailable(exception) ? 503 : ErrorHandler.resolveStatusCode(exception);
    if (isOverloaded(exception)) options.logOverload();
    else if (status >= 500) log.error('The request failed: {exception}', { requestId, route, exception });
    else if (exception instanceof HttpError && status !== 404) {
      const { message: detail } = exception;
      const refused = route ?? (exception instanceof MethodError ? exception.route : null);
      if (refused !== null)
        log.info('{route} refused: {status} ({detail})', { route: refused, requestId, status, detail });
    }
    const own = exception instanceof HttpError ? exception.headers : {};
    const headers = status === 503 ? { 'Retry-After': '2', ...own } : own;
    return errorAnswer({ views, speaking, log, name }, { request, requestId, status, headers });
  }

  return { fetch, ended: () => within(LONGEST_WAIT, inFlight.ended()) };
}

/** How far a request has come: for the log. */
interface Progress {
  /** The name of its route; null when it has none. */
  route: string | null;
}

/** Not by `instanceof`: `@hono/node-server` has a class of its own beside the runtime's. */
function isResponse(answered: unknown): answered is Response {
  return typeof answered === 'object' && answered !== null && 'headers' in answered && 'status' in answered;
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  if (cookies.length === 0) return response;
  const headers = new Headers(response.headers);
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

function withoutBody(request: Request, response: Response): Response {
  if (request.method !== 'HEAD') return response;
  const { status, statusText, headers } = response;
  return new Response(null, { status, statusText, headers });
}

// --- requests in flight ---------------------------------------------------------------------------------------

function createInFlight() {
  let count = 0;
  let notify: (() => void) | null = null;
  return {
    begin() {
      count += 1;
    },
    end() {
      count -= 1;
      if (count === 0) notify?.();
    },
    /** Resolves as soon as there are none. */
    ended: () =>
      new Promise<void>((resolve) => {
        if (count === 0) resolve();
        else notify = resolve;
      }),
  };
}

/** Milliseconds. */
const LONGEST_WAIT = 10_000;

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([work, setTimeout(milliseconds, undefined, { signal: waiting.signal }).catch(() => {})]);
  waiting.abort();
}
