import type { FastifyReply } from 'fastify';
import { isAdded } from '../../http/added-headers.ts';
import { OF_THE_BODY } from '../../http/replaced-body.ts';

/** Sends a Response as the reply of Fastify. */
export function answer(response: Response, reply: FastifyReply): FastifyReply {
  reply.code(response.status);
  // Remove only headers that are set. If you remove a `content-length` or `transfer-encoding` that
  // is not set, Node closes the connection.
  for (const name of OF_THE_BODY) if (reply.getHeader(name) !== undefined) reply.removeHeader(name);
  for (const [name, value] of response.headers) {
    const before = isAdded(name, response) ? reply.getHeader(name) : undefined;
    reply.header(name, before === undefined ? value : [before, value].flat().join(', '));
  }
  return reply.send(response.body ?? undefined);
}
