import { randomUUID } from 'node:crypto';
import { Note } from './note.ts';

/**
 * The header for the request id. The id appears in the log and in the response, so that a caller
 * can report which request was rejected. If the caller sends a simple word in `X-Request-Id`,
 * Portico uses it as the id. All logs then contain the same id.
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
 * Does the same as `getRequestId` for another object that represents the request, for example a
 * Node message. `sent` is the value of the header `X-Request-Id`.
 */
export function requestIdFor(asked: object, sent: unknown): string {
  let id = ids.of(asked);
  if (id === undefined) {
    id = typeof sent === 'string' && PLAIN_WORD.test(sent) ? sent : newRequestId();
    ids.set(asked, id);
  }
  return id;
}

/**
 * Sets a Request's id to the id of the request or Node message from which the Request was created.
 */
export function nameRequest(made: Request, id: string): Request {
  ids.set(made, id);
  return made;
}

/** Returns an id for a response that belongs to no Request. */
export function newRequestId(): string {
  return randomUUID();
}

/**
 * Records that the response already contains the header with the id. Looking for this header later
 * would take longer than creating the response.
 */
export function madeWithRequestId(response: Response): Response {
  named.set(response, true);
  return response;
}

/**
 * Returns the response with the request's id in a header. If the response already has an id, does
 * not change it.
 */
export function withRequestId(response: Response, id: string): Response {
  if (named.of(response) === true) return response;
  if (response.headers.has(REQUEST_ID_HEADER)) return response;
  try {
    response.headers.set(REQUEST_ID_HEADER, id);
    return response;
  } catch {
    // Copy the response, because the headers of a response from fetch() or Response.redirect() are
    // read-only.
    const headers = new Headers(response.headers);
    headers.set(REQUEST_ID_HEADER, id);
    return new Response(response.body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  }
}
