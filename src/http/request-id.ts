import { randomUUID } from 'node:crypto';

/**
 * What a request is called in the log, and in its answer: whoever is refused can say which request it was. A proxy's or the
 * caller's own `X-Request-Id` is kept when it is a plain word, so that one name goes through all logs.
 */
export const REQUEST_ID_HEADER = 'X-Request-Id';

const PLAIN_WORD = /^[A-Za-z0-9._-]{1,128}$/;

const ids = new WeakMap<object, string>();
const named = new WeakSet<Response>();

/** The id of a request; the same whenever it is asked for. */
export function requestIdOf(request: Request): string {
  return ids.get(request) ?? requestIdFor(request, request.headers.get(REQUEST_ID_HEADER));
}

/** The same for what stands for a request elsewhere, such as Node's own message, with the header that was sent. */
export function requestIdFor(asked: object, sent: unknown): string {
  let id = ids.get(asked);
  if (id === undefined) {
    id = typeof sent === 'string' && PLAIN_WORD.test(sent) ? sent : newRequestId();
    ids.set(asked, id);
  }
  return id;
}

/** Gives a request that is made of something else that one's id. */
export function nameRequest(made: Request, id: string): Request {
  ids.set(made, id);
  return made;
}

/** An id for what is no Request. */
export function newRequestId(): string {
  return randomUUID();
}

/** Says that the answer was made with its id among its headers: looking there costs more than making the answer. */
export function madeWithRequestId(response: Response): Response {
  named.add(response);
  return response;
}

/** The answer with the request's id, unless it has one. */
export function withRequestId(response: Response, id: string): Response {
  if (named.has(response)) return response;
  if (response.headers.has(REQUEST_ID_HEADER)) return response;
  try {
    response.headers.set(REQUEST_ID_HEADER, id);
    return response;
  } catch {
    // What fetch() and Response.redirect() give cannot be changed.
    const headers = new Headers(response.headers);
    headers.set(REQUEST_ID_HEADER, id);
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  }
}
