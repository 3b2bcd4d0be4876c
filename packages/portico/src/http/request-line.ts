import type { IncomingMessage } from 'node:http';
import { Note } from './note.ts';
import { readPath } from './request-target.ts';

/** The Node message that a Request was made from. */
export const messages = new Note<IncomingMessage>('incoming');

/** How a request was sent. */
export interface RequestLine {
  readonly method: string;
  /** The path and query as they arrived, before a framework changes them. */
  readonly target: string;
}

const lines = new Note<RequestLine>('request line');

/**
 * Records the request line for a Request that represents another request, but has a different
 * method or path.
 */
export function noteRequestLine(request: Request, line: RequestLine): void {
  lines.set(request, line);
}

/**
 * Returns the recorded request line, or the Request's own line. Ignores the origin, because the
 * sender chooses the `Host`.
 */
export function readRequestLine(request: Request): RequestLine {
  return lines.of(request) ?? { method: request.method, target: readPath(request.url) };
}

/** Returns the object that identifies a request, even if several Requests were made from it. */
export function findSource(request: Request): object {
  return messages.of(request) ?? request;
}
