import type { IncomingMessage } from 'node:http';
import { Note } from './note.ts';
import { readPath } from './request-target.ts';

/** The Node message from which a Request was created. */
export const messages = new Note<IncomingMessage>('incoming');

/** The method and path as the client sent them. */
export interface RequestLine {
  readonly method: string;
  /** The path of the URL, before a framework changed it. May include the query. */
  readonly target: string;
}

const lines = new Note<RequestLine>('request line');

/** Records the line that the client sent, for a Request whose method or path has changed. */
export function noteRequestLine(request: Request, line: RequestLine): void {
  lines.set(request, line);
}

/**
 * Returns the recorded line, or the method and path of the Request. Omits the origin, because the
 * sender chooses it in `Host`.
 */
export function readRequestLine(request: Request): RequestLine {
  return lines.of(request) ?? { method: request.method, target: readPath(request.url) };
}

/**
 * Returns an object that identifies the HTTP request. All `Request` objects from the same Node
 * message share it.
 */
export function findSource(request: Request): object {
  return messages.of(request) ?? request;
}
