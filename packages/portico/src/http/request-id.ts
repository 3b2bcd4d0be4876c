import { randomUUID } from 'node:crypto';
import { Note } from './note.ts';

/**
 * Identifies a request in the log and in its response, so that a refused caller can say which
 * request it was. An `X-Request-Id` from the caller is kept if it is a plain word, so that one id
 * goes through all logs.
 */
export const REQUEST_ID_HEADER = 'X-Request-Id';

const PLAIN_WORD = /^[A-Za-z0-9._-]{1,128}$/;

const ids = new Note<string>('request id');
const named = new Note<true>('has its request id');

/** The id of a request; always the same for one request. */
export function getRequestId(request: Request): string {
  return ids.of(request) ?? requestIdFor(request, request.headers.get(REQUEST_ID_HEADER));
}

/**
 * As `getRequestId`, for another object that represents a request, such as Node's message.
 * `sent` is its header.
 */
export function requestIdFor(asked: object, sent: unknown): string {
  let id = ids.of(asked);
  if (id === undefined) {
    id = typeof sent === 'string' && PLAIN_WORD.test(sent) ? sent : newRequestId();
    ids.set(asked, id);
  }
  return id;
}

/** Gives a Request the id of the request or Node message that it was made from. */
export function nameRequest(made: Request, id: string): Request {
  ids.set(made, id);
  return made;
}

/** An id for a response without a Request. */
export function newRequestId(): string {
  return randomUUID();
}

/**
 * Records that the response has its id as a header. Checking its headers costs more than making the
 * response.
 */
export function madeWithRequestId(response: Response): Response {
  named.set(response, true);
  return response;
}

/** The response with the request's id, unless it has one. */
export function withRequestId(response: Response, id: string): Response {
  if (named.of(response) === true) return response;
  if (response.headers.has(REQUEST_ID_HEADER)) return response;
  try {
    response.headers.set(REQUEST_ID_HEADER, id);
    return response;
  } catch {
    // Responses of fetch() and Response.redirect() are immutable.
    const headers = new Headers(response.headers);
    headers.set(REQUEST_ID_HEADER, id);
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  }
}
