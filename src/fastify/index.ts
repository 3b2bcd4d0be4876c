/** Portico in a Fastify 5 application. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createDispatcher, methodNotAllowed, type Mountable } from '../fetch/dispatch.ts';
import { answerTo, headersOnly, incomingOf, requestFrom } from '../node/mount.ts';
import { BearerError, bearerErrorResponse, type AuthorizationServer } from '../oauth-server/index.ts';
import { createNote } from '../http/note.ts';

export type { Mountable } from '../fetch/dispatch.ts';

const requests = createNote<FastifyRequest>('fastify request');

/**
 * The endpoints as a plugin: `await fastify.register(portico(server, mcp))`, behind the session's plugins. Without a prefix:
 * `base_path` is what stands before their paths, and some documents are in front of it.
 */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]) {
  const dispatch = createDispatcher([server, ...more]);
  const paths = new Map<string, Set<string>>();
  const refusing = new Set<string>();
  for (const { path, methods, refusesMethods } of [server, ...more].flatMap(({ endpoints }) => endpoints)) {
    const known = paths.get(path) ?? new Set<string>();
    for (const method of methods) known.add(method);
    paths.set(path, known);
    if (refusesMethods === true) refusing.add(path);
  }
  return async (fastify: FastifyInstance): Promise<void> => {
    if (fastify.prefix !== '') {
      throw new Error(
        `portico() is registered below the prefix ${fastify.prefix}, where its endpoints are not: register it without one, ` +
          'and set base_path to what is to stand before their paths',
      );
    }
    // The endpoints read their bodies themselves, whatever parsers the host has: these are of this plugin alone.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', leaveUnread);
    for (const [url, methods] of paths) {
      fastify.route({
        url,
        method: refusing.has(url) ? fastify.supportedMethods : [...methods],
        async handler(request, reply) {
          const target = request.originalUrl;
          const endpoint = dispatch(request.method, target);
          if (endpoint === null) return reply.callNotFound();
          if ('allow' in endpoint) {
            return answer(answerTo(request.raw, methodNotAllowed(endpoint.allow)), reply);
          }
          requests.set(request.raw, request);
          const parsed = request.body ?? undefined;
          const asked = { incoming: request.raw, outgoing: reply.raw, target, parsed };
          const response = await endpoint.handle(requestFrom(asked, server.origin), request);
          return answer(answerTo(request.raw, response), reply);
        },
      });
    }
  };
}

/** The endpoints have limits of their own, and refuse larger bodies in their own words. */
function leaveUnread(
  _: FastifyRequest,
  body: unknown,
  done: (error: Error | null, body?: unknown) => void,
): void {
  done(null, body);
}

function answer(response: Response, reply: FastifyReply): FastifyReply {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  return reply.send(response.body ?? undefined);
}

/** Gives the handlers behind it `token()`: `fastify.addHook('onRequest', bearer(server))`. It refuses nothing by itself. */
export function bearer(server: AuthorizationServer) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const lookUp = async () => {
      try {
        const asked = () => {
          requests.set(request.raw, request);
          return headersOnly(request.raw, server.origin);
        };
        const found = await server.lookUpToken(request.headers.authorization ?? null, asked, request);
        if ('failure' in found) answer(found.failure, reply);
        else found.run(done);
      } catch (error) {
        if (!reply.sent) reply.send(error);
      }
    };
    void lookUp();
  };
}

/** Answers what `token()` refuses with 401 or 403: in the application's error handler, or as it. */
export function bearerErrors(
  error: FastifyError | Error,
  _: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof BearerError) return answer(bearerErrorResponse(error), reply);
  throw error;
}

/** Fastify's request behind one that the host contract is given: for `request.session`. Throws for another. */
export function fastifyRequest(request: Request): FastifyRequest {
  const incoming = incomingOf(request);
  const found = incoming === null ? undefined : requests.of(incoming);
  if (found === undefined)
    throw new Error('The request did not come through portico(server) of portico/fastify');
  return found;
}
