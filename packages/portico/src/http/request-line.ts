import type { IncomingMessage } from 'node:http';
import { Note } from './note.ts';
import { readPath } from './request-target.ts';

/** The Node message from which a Request was created. */
export const messages = new Note<IncomingMessage>('incoming');

/** The method and path of a request, as the client sent them. */
export interface RequestLine {
  readonly method: string;
  /** The path of the URL, before a framework changed it. May include the query. */
  readonly target: string;
}

const lines = new Note<RequestLine>('request line');

/**
 * Records the request line that the client sent, for a Request whose method or path has been
 * changed.
 */
export function noteRequestLine(request: Request, line: RequestLine): void {
  lines.set(request, line);
}

/**
 * Returns the recorded request line, or the method and path of the Request if none was recorded.
 * Leaves out the origin, because it comes from the `Host` header, which the sender chooses.
 */
export function readRequestLine(request: Request): RequestLine {
  return lines.of(request) ?? { method: request.method, target: readPath(request.url) };
}

/**
 * Returns an object that identifies the HTTP request. All `Request` objects that were created from
 * the same Node message share this object.
 */
export function findSource(request: Request): object {
  return messages.of(request) ?? request;
}
