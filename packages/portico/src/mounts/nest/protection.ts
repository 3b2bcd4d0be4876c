import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  applyDecorators,
  Catch,
  createParamDecorator,
  Dependencies,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { answer } from '../fastify/answer.ts';
import { readAuthorization } from '../../http/bearer.ts';
import { Note } from '../../http/note.ts';
import { headersOnly, send } from '../node/mount.ts';
import { answerFromResponse } from '../node/sent-answer.ts';
import {
  BearerError,
  bearerErrorResponse,
  token,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';

/**
 * The injection token for the server, which is an `AuthorizationServer`.
 *
 * @example
 * const orders = { provide: Orders, inject: [AUTHORIZATION_SERVER], useFactory: ordersOf };
 */
export const AUTHORIZATION_SERVER = Symbol('portico/nest: the authorization server');
const SCOPES = Symbol('portico/nest: scopes');
const RESOURCE = Symbol('portico/nest: resource');
/** A request object of Express or Fastify. */
type PlatformRequest = IncomingMessage | { readonly raw: IncomingMessage };
/** Runs code in which `token()` is available. */
type Run = <T>(work: () => T) => T;
/** The result of looking up a request's token, and the API for which the token was looked up. */
const runs = new Note<{ readonly api: ProtectedRoutes; readonly run: Run }>(
  'nest: runs with token()',
);

/** Thrown if looking up a token failed. Contains the response to send. */
class FailedLookUp extends Error {
  readonly response: Response;
  constructor(response: Response) {
    super(`The access token could not be looked up: ${response.status}`);
    this.response = response;
  }
}

/**
 * Responds with 401 or 403 if `token()` rejects a request, and with 503 or 500 if the token cannot
 * be looked up. `PorticoModule` registers this filter for the whole application.
 */
export class PorticoFilter implements ExceptionFilter<BearerError | FailedLookUp> {
  readonly #host: HttpAdapterHost;
  /** Nest calls this constructor. */
  constructor(host: HttpAdapterHost) {
    this.#host = host;
  }
  /**
   * Nest calls this method for each BearerError and FailedLookUp. For an HTTP request, a rejection
   * would end the process.
   */
  async catch(error: BearerError | FailedLookUp, host: ArgumentsHost): Promise<void> {
    const [adapter, reply] = [this.#host.httpAdapter, host.switchToHttp().getResponse<object>()];
    if (host.getType() !== 'http') throw error;
    if (adapter.isHeadersSent(reply)) {
      // A part of another response has been sent. Close the connection, so the client notices that
      // it is incomplete.
      const outgoing = 'raw' in reply ? (reply as FastifyReply).raw : (reply as ServerResponse);
      if (!outgoing.writableEnded) outgoing.destroy();
      return;
    }
    const response = error instanceof BearerError ? bearerErrorResponse(error) : error.response;
    // Send the response without Nest. Otherwise, Express would add an ETag, and both frameworks
    // would add a charset to text.
    if (adapter.getType() === 'express')
      return send(response, reply as ServerResponse, false).catch(() => {});
    answer(answerFromResponse(response), reply as FastifyReply);
  }
}
Catch(BearerError, FailedLookUp)(PorticoFilter);
Dependencies(HttpAdapterHost)(PorticoFilter);

/** Accepts a request only if its token is usable and has all scopes from `@RequireScope()`. */
export class PorticoGuard implements CanActivate {
  readonly #server: AuthorizationServer;
  readonly #reflector: Reflector;
  /** Nest calls this constructor. */
  constructor(server: AuthorizationServer, reflector: Reflector) {
    this.#server = server;
    this.#reflector = reflector;
  }
  /** Nest calls this method before each protected handler. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (context.getType() !== 'http')
      throw new Error(
        `@RequireScope() protects handlers of HTTP requests, not of '${context.getType()}'`,
      );
    const request = context.switchToHttp().getRequest<PlatformRequest>();
    const places = [context.getHandler(), context.getClass()];
    const api = this.#at(this.#reflector.getAllAndOverride<string | undefined>(RESOURCE, places));
    const before = runs.of(request);
    const run = before?.api === api ? before.run : await this.#lookUp(request, api);
    const scopes = this.#reflector.getAllAndMerge<string[]>(SCOPES, places);
    run(() => {
      // If challenges link to metadata, the response must name the scope even if the request has no
      // usable token. `requireScope` alone then rejects such a request.
      if (scopes.length === 0 || api.resourceMetadataUrl === null) token().requireUsable();
      for (const scope of scopes) token().requireScope(scope);
    });
    runs.set(request, { api, run });
    return true;
  }
  #at(resource: string | undefined): ProtectedRoutes {
    return resource === undefined ? this.#server : this.#server.resource(resource);
  }
  async #lookUp(request: PlatformRequest, api: ProtectedRoutes): Promise<Run> {
    const incoming = 'raw' in request ? request.raw : request;
    const asked = () => headersOnly(incoming, api.origin);
    const found = await api.lookUpToken(readAuthorization(incoming), asked, request);
    if ('failure' in found) throw new FailedLookUp(found.failure);
    return found.run;
  }
}
Dependencies(AUTHORIZATION_SERVER, Reflector)(PorticoGuard);

/**
 * Makes `token()` available in the handlers after a `PorticoGuard` and in the functions that they
 * call.
 */
export class PorticoInterceptor implements NestInterceptor {
  /** Nest calls this method after the guard. */
  intercept(context: ExecutionContext, next: CallHandler) {
    const found = runs.of(context.switchToHttp().getRequest<object>());
    return found === undefined ? next.handle() : found.run(() => next.handle());
  }
}

/**
 * Protects a controller or a handler. A request needs a usable token with these scopes, and the
 * token's user needs the permissions for them. Without scopes, any usable token is enough. Other
 * requests get a 401 or 403 response, or 503 or 500 if the token cannot be looked up.
 *
 * @example
 * RequireScope('orders:read', 'orders:write')
 */
export function RequireScope(...scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return applyDecorators(
    addScopes(scopes),
    UseGuards(PorticoGuard),
    UseInterceptors(PorticoInterceptor),
    UseFilters(PorticoFilter),
  );
}

/**
 * Adds scopes to those from other decorators of the class or handler and from the base class.
 * `SetMetadata` alone would replace them.
 */
function addScopes(scopes: readonly string[]): ClassDecorator & MethodDecorator {
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    const place = (descriptor?.value ?? target) as Parameters<Reflector['get']>[1];
    const before = new Reflector().get<readonly string[] | undefined>(SCOPES, place) ?? [];
    const all = SetMetadata(SCOPES, [...before, ...scopes]);
    if (key === undefined || descriptor === undefined) all(target as Parameters<ClassDecorator>[0]);
    else all(target, key, descriptor);
  };
}

/**
 * Sets the resource whose tokens a controller or handler with `@RequireScope()` accepts. The URL is
 * in `oauth_server:resources` or the same as `oauth_server:audience`, which is the default.
 *
 * @example
 * AtResource('https://shop.example/api')
 */
export function AtResource(url: string): ClassDecorator & MethodDecorator {
  return SetMetadata(RESOURCE, url);
}

/** Passes the token of the request, as a `TokenAccessor`, to a handler with `@RequireScope()`. */
export const CurrentToken: () => ParameterDecorator = createParamDecorator(() => token());
