import { randomUUID } from 'node:crypto';
import { Note } from './note.ts';

/**
 * The header with the request id, which is in the log and in the response. Callers can report this
 * id. If the caller sends a simple word in `X-Request-Id`, Portico uses it, so all logs contain the
 * same id.
 */
export const REQUEST_ID_HEADER = 'X-Request-Id';

const PLAIN_WORD = /^[A-Za-z0-9._-]{1,128}$/;

const ids = new Note<string>('request id');
const named = new Note<true>('has its request id');

/** Returns the id of a request. All calls for the same request return the same id. */
export function getRequestId(request: Request): string {
  return ids.of(request) ?? requestIdFor(request, request.headers.get(REQUEST_ID_HEADER));
}

/**
 * Like `getRequestId`, for another object that represents the request, for example a Node message.
 * `sent` is the value of `X-Request-Id`.
 */
export function requestIdFor(asked: object, sent: unknown): string {
  let id = ids.of(asked);
  if (id === undefined) {
    id = typeof sent === 'string' && PLAIN_WORD.test(sent) ? sent : newRequestId();
    ids.set(asked, id);
  }
  return id;
}

/** Gives a Request the id of the request or Node message that it was created from. */
export function nameRequest(made: Request, id: string): Request {
  ids.set(made, id);
  return made;
}

/** Returns an id for a response that belongs to no Request. */
export function newRequestId(): string {
  return randomUUID();
}

/**
 * Records that the response already has the header. A look at the headers later would take longer
 * than creating the response.
 */
export function madeWithRequestId(response: Response): Response {
  named.set(response, true);
  return response;
}

/** Adds the request's id to the response as a header, unless the response already has one. */
export function withRequestId(response: Response, id: string): Response {
  if (named.of(response) === true) return response;
  if (response.headers.has(REQUEST_ID_HEADER)) return response;
  try {
    response.headers.set(REQUEST_ID_HEADER, id);
    return response;
  } catch {
    // The headers of a response from fetch() or Response.redirect() are read-only, so copy it.
    const headers = new Headers(response.headers);
    headers.set(REQUEST_ID_HEADER, id);
    return new Response(response.body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  }
}
