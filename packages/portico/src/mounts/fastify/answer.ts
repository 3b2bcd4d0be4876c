import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { OF_THE_BODY } from '../replaced-body.ts';
import { cancelBody, type SentAnswer } from '../node/sent-answer.ts';

export function answer(sent: SentAnswer, reply: FastifyReply): FastifyReply {
  const { status, fields, cookies, body } = sent;
  reply.code(status);
  // Node closes the connection if you remove a `content-length` or `transfer-encoding` header that
  // is not set. So remove only headers that are set.
  for (const name of OF_THE_BODY) if (reply.getHeader(name) !== undefined) reply.removeHeader(name);
  for (const { name, value, isAdded } of fields) {
    const before = isAdded ? reply.getHeader(name) : undefined;
    reply.header(name, before === undefined ? value : [before, value].flat().join(', '));
  }
  if (cookies.length > 0) {
    // Express middleware sets cookies on Node's response, which the cookies of the reply would
    // replace. The middleware runs first, so its cookies come first. Of two cookies with the same
    // name, browsers keep the last.
    const earlier = [reply.raw.getHeader('set-cookie'), reply.getHeader('set-cookie')];
    const before = earlier.flatMap((value) => (value === undefined ? [] : [value].flat()));
    reply.removeHeader('set-cookie');
    for (const cookie of new Set([...before, ...cookies])) reply.header('set-cookie', cookie);
  }
  // For HEAD, an event stream would never end, so pass no body to Fastify.
  if (reply.request.method === 'HEAD') {
    cancelBody(sent);
    return reply.send();
  }
  if (body === null) return reply.send();
  // Fastify does not change the headers of a stream, so always send one. For bytes, it would add a
  // Content-Length. For text, it would change the Content-Type.
  return reply.send(body instanceof ReadableStream ? body : Readable.from(Buffer.from(body)));
}
