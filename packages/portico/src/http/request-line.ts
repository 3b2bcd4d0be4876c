import type { IncomingMessage } from 'node:http';
import { Note } from './note.ts';
import { readPath } from './request-target.ts';

/** The Node message that a Request was created from. */
export const messages = new Note<IncomingMessage>('incoming');

/** A request's method and path as they were sent. */
export interface RequestLine {
  readonly method: string;
  /** The path and query before a framework changed the URL. */
  readonly target: string;
}

const lines = new Note<RequestLine>('request line');

/** Records the request line as it was sent, for a Request whose method or path was changed. */
export function noteRequestLine(request: Request, line: RequestLine): void {
  lines.set(request, line);
}

/**
 * Returns the recorded request line, or the Request's method and path if none was recorded. Leaves
 * out the origin, because the sender chooses the `Host`.
 */
export function readRequestLine(request: Request): RequestLine {
  return lines.of(request) ?? { method: request.method, target: readPath(request.url) };
}

/**
 * Returns an object that identifies a request. All Requests that were created from one Node message
 * have the same object.
 */
export function findSource(request: Request): object {
  return messages.of(request) ?? request;
}
