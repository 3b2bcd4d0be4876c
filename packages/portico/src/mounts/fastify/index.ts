/** Mounts Portico in a Fastify 5 application. */
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteOptions,
} from 'fastify';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { answerOf, headersOnly, incomingOf } from '../node/mount.ts';
import { answerFromResponse } from '../node/sent-answer.ts';
import {
  BearerError,
  bearerErrorResponse,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';
import { readAuthorization } from '../../http/bearer.ts';
import { Note } from '../../http/note.ts';
import { toOriginForm } from '../../http/request-target.ts';
import { answer } from './answer.ts';

export type { Mountable } from '../fetch/dispatch.ts';

const requests = new Note<FastifyRequest>('fastify request');

/**
 * Returns the endpoints as a Fastify plugin. Register it after the session plugins, and without a
 * prefix. The paths already include `base_path`, and some documents are not below `base_path`. With
 * a prefix, the registration rejects.
 *
 * @example
 * await fastify.register(portico(server, mcp));
 */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]) {
  const mounted = new MountedEndpoints([server, ...more]);
  const paths = new Set(
    [server, ...more].flatMap(({ endpoints }) => endpoints.map(({ path }) => path)),
  );
  return async (fastify: FastifyInstance): Promise<void> => {
    if (fastify.prefix !== '') {
      throw new Error(
        `portico() is registered below the prefix ${fastify.prefix}, where its endpoints ` +
          'cannot be found. Register it without a prefix ' +
          'and set base_path to the prefix',
      );
    }
    // The endpoints read request bodies with their own limits, so remove the body parsers. This
    // affects only this plugin.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (_request, body, done) => done(null, body));
    // If the application decompresses a body, the stream can fail while no endpoint reads it, for
    // example during a hook. Such a failure must not end the process. This hook runs after the
    // application's hooks.
    fastify.addHook('preParsing', (_request, _reply, body, done) => {
      body.on('error', () => {});
      done(null, body);
    });
    for (const url of paths) {
      const route: RouteOptions = {
        url,
        method: fastify.supportedMethods,
        async handler(request, reply) {
          const { raw } = request;
          const target = toOriginForm(request.originalUrl);
          const endpoint = mounted.dispatch(request.method, target);
          if (endpoint === null) return reply.callNotFound();
          requests.set(raw, request);
          const asked = {
            incoming: raw,
            outgoing: reply.raw,
            target,
            parsed: request.body ?? undefined,
          };
          return answer(await answerOf(endpoint, asked, server.origin, request), reply);
        },
      };
      try {
        fastify.route(route);
      } catch (error) {
        // With `ignoreTrailingSlash`, the route without the trailing slash also serves this path.
        if (!url.endsWith('/') || (error as FastifyError).code !== 'FST_ERR_DUPLICATED_ROUTE')
          throw error;
      }
    }
  };
}

/**
 * Makes `token()` available in the handlers that follow. It rejects no request because of its
 * token. If the token cannot be looked up, it responds with 503 or 500. With several resources,
 * pass one: `bearer(server.resource(url))`.
 *
 * @example
 * fastify.addHook('onRequest', bearer(server));
 */
export function bearer(server: ProtectedRoutes) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const lookUp = async () => {
      try {
        const asked = () => {
          requests.set(request.raw, request);
          return headersOnly(request.raw, server.origin, request.originalUrl);
        };
        const { headers, raw } = request;
        const authorization = readAuthorization({ headers, rawHeaders: raw.rawHeaders });
        const found = await server.lookUpToken(authorization, asked, request);
        if ('failure' in found) answer(answerFromResponse(found.failure), reply);
        else found.run(done);
      } catch (error) {
        if (!reply.sent) reply.send(error);
      }
    };
    void lookUp();
  };
}

/**
 * Responds with 401 or 403 if `token()` has rejected the request. Throws any other error again.
 * Call it in your error handler, or use it as the error handler.
 *
 * @example
 * fastify.setErrorHandler(bearerErrors);
 */
export function bearerErrors(
  error: FastifyError | Error,
  _: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  // If a part of a response has been sent, do not send another one. Fastify ends the response after
  // this error.
  if (error instanceof BearerError && !reply.raw.headersSent)
    return answer(answerFromResponse(bearerErrorResponse(error)), reply);
  throw error;
}

/**
 * Returns the Fastify request for a request that a host method received, for `request.session`.
 * Throws if the request did not come through Fastify.
 *
 * @example
 * signedIn: async (request) => referenceTo(fastifyRequest(request).session.get('user')),
 */
export function fastifyRequest(request: Request): FastifyRequest {
  const incoming = incomingOf(request);
  const found = incoming === null ? undefined : requests.of(incoming);
  if (found === undefined)
    throw new Error(
      'The request did not pass through the plugin portico(server) of portico/fastify',
    );
  return found;
}
