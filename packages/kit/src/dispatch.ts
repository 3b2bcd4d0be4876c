import { isOverloaded } from '@portico/sql';
import type { Connection, Middleware } from 'portico';
import {
  isLiteralTarget,
  readPath,
  getRequestId,
  runInContext,
  withRequestId,
} from 'portico/extension';
import { HttpError } from './errors.ts';
import { setTimeout } from 'node:timers/promises';
import { RequestContext, runWithContext } from './accounts/request-context.ts';
import { limitBody } from './http/body-limit.ts';
import { resolveClientAddress } from './http/client-address.ts';
import { errorAnswer, errorJson } from './http/error-answers.ts';
import { ErrorHandler } from './http/error-handler.ts';
import { MethodError, type MatchedRoute, type Routes } from './http/routes.ts';
import type { Kit } from './kit.ts';

/** Passes each request to the matching route. */
export class Dispatcher {
  readonly #kit: Kit;
  readonly #routes: Routes;
  readonly #middlewares: readonly Middleware[];
  readonly #inFlight = new InFlight();

  /** `middlewares` run around the application's own routes. The first one is the outermost. */
  constructor(kit: Kit, routes: Routes, middlewares: readonly Middleware[]) {
    this.#kit = kit;
    this.#routes = routes;
    this.#middlewares = middlewares;
  }

  /** Answers a request. Never rejects. */
  fetch(request: Request, connection: Connection): Promise<Response> {
    const requestId = getRequestId(request);
    return runInContext(undefined, requestId, () => this.#answer(request, connection, requestId));
  }

  /** Waits until all running requests have finished, but at most ten seconds. */
  ended(): Promise<void> {
    return within(LONGEST_WAIT, this.#inFlight.ended());
  }

  async #answer(request: Request, connection: Connection, requestId: string): Promise<Response> {
    this.#inFlight.begin();
    const progress: Progress = { route: null, context: null };
    const finished = (response: Response) =>
      withRequestId(withoutBody(request, response), requestId);
    // Error responses need the cookies too: a handler may throw after it has signed a user in.
    const withItsCookies = (response: Response) =>
      withCookies(response, progress.context?.setCookies() ?? []);
    try {
      let response: Response;
      try {
        response = withItsCookies(await this.#route(request, connection, progress));
      } catch (exception) {
        response = withItsCookies(
          await this.#answerException(exception, request, requestId, progress),
        );
      }
      const passed = this.#kit.events.passResponse(response);
      return finished(passed instanceof Promise ? await passed : passed);
    } catch (exception) {
      // Even if a hook throws, this method must not reject.
      this.#kit.log.error('A host hook failed: {exception}', { requestId, exception });
      const failed = errorJson({ request, requestId, status: 500, headers: {} });
      return finished(withItsCookies(failed));
    } finally {
      this.#inFlight.end();
    }
  }

  /**
   * Returns the response of the matching route. Throws or rejects if the request must be answered
   * with an error.
   */
  #route(sent: Request, connection: Connection, progress: Progress): Promise<Response> {
    if (connection.target !== undefined && !isLiteralTarget(connection.target)) {
      throw new HttpError(404, 'The path has a . or .. segment, a backslash or a fragment');
    }
    const { config, people, csrf } = this.#kit;
    const matched = this.#routes.match(sent.method, readPath(sent.url));
    progress.route = matched.route.name;
    const request = matched.kind === 'application' ? limitBody(sent, config.body_limit) : sent;
    const address = () => resolveClientAddress(request, connection.address, config.trusted_proxies);
    const context = new RequestContext(people, request, address);
    progress.context = context;
    if (csrf === null) return runWithContext(context, () => this.#handle(matched, request));
    return runWithContext(context, async () => {
      const isChecked = matched.kind !== 'sign-in' && csrf.isNeeded(request, matched.route);
      const checked = isChecked ? await csrf.check(request, context.csrf) : request;
      return this.#handle(matched, checked);
    });
  }

  async #handle(matched: MatchedRoute, request: Request): Promise<Response> {
    const { route, parameters, kind } = matched;
    const isGuarded = kind === 'application' && this.#middlewares.length > 0;
    const answered: unknown = await (isGuarded
      ? this.#runMiddlewares(matched, request, 0)
      : route.handler(parameters, request));
    if (isResponse(answered)) return answered;
    throw new TypeError(
      `The handler of the route ${route.name}, or a middleware around it, returned ` +
        `${typeof answered} instead of a ` +
        'Response; check for a missing return',
    );
  }

  async #runMiddlewares(matched: MatchedRoute, request: Request, index: number): Promise<Response> {
    const middleware = this.#middlewares[index];
    return middleware === undefined
      ? matched.route.handler(matched.parameters, request)
      : middleware(request, () => this.#runMiddlewares(matched, request, index + 1));
  }

  async #answerException(
    exception: unknown,
    request: Request,
    requestId: string,
    { route }: Progress,
  ): Promise<Response> {
    const { events, database, log, logOverload } = this.#kit;
    const answered = await events.answerException(exception).catch((failure: unknown) => {
      // `#answer` logs the failure of the hook.
      log.error('The request failed: {exception}', { requestId, route, exception });
      throw failure;
    });
    if (answered !== null) return answered;
    const status = database.isUnavailable(exception)
      ? 503
      : ErrorHandler.resolveStatusCode(exception);
    if (isOverloaded(exception)) logOverload();
    else if (status >= 500)
      log.error('The request failed: {exception}', { requestId, route, exception });
    else if (exception instanceof HttpError && status !== 404) {
      const { message: detail } = exception;
      const refused = route ?? (exception instanceof MethodError ? exception.route : null);
      if (refused !== null)
        log.info('{route} refused: {status} ({detail})', {
          route: refused,
          requestId,
          status,
          detail,
        });
    }
    const own = exception instanceof HttpError ? exception.headers : {};
    const headers = status === 503 ? { 'Retry-After': '2', ...own } : own;
    return errorAnswer(this.#kit, { request, requestId, status, headers });
  }
}

/** What is known about a request so far, for its log line and its response. */
interface Progress {
  /** The name of the matching route, or null if no route has matched. */
  route: string | null;
  /** The context in which the route runs, or null if no route has matched. */
  context: RequestContext | null;
}

/**
 * Whether a handler returned a response. `instanceof` would not work here, because
 * `@hono/node-server` has its own `Response` class.
 */
function isResponse(answered: unknown): answered is Response {
  return (
    typeof answered === 'object' &&
    answered !== null &&
    'headers' in answered &&
    'status' in answered
  );
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  if (cookies.length === 0) return response;
  const headers = new Headers(response.headers);
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}

function withoutBody(request: Request, response: Response): Response {
  if (request.method !== 'HEAD') return response;
  const { status, statusText, headers, body } = response;
  // Without this, what the body reads from would stay open, for example a file.
  body?.cancel().catch(() => undefined);
  return new Response(null, { status, statusText, headers });
}

/** Counts the running requests. */
class InFlight {
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const notify of this.#waiting.splice(0)) notify();
  }

  /** Resolves as soon as no request is running. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count === 0) resolve();
      else this.#waiting.push(resolve);
    });
  }
}

/** The maximum time to wait for running requests, in milliseconds. */
const LONGEST_WAIT = 10_000;

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([
    work,
    setTimeout(milliseconds, undefined, { signal: waiting.signal }).catch(() => {}),
  ]);
  waiting.abort();
}
