import type { IncomingMessage } from 'node:http';
import { Note } from './note.ts';
import { readPath } from './request-target.ts';

/** The Node message that a Request was made from. */
export const messages = new Note<IncomingMessage>('incoming');

/** How a request was sent. */
export interface RequestLine {
  readonly method: string;
  /** Path and query as they arrived, before a framework changes them. */
  readonly target: string;
}

const lines = new Note<RequestLine>('request line');

/** For a Request that represents another one, and does not have its method and path. */
export function noteRequestLine(request: Request, line: RequestLine): void {
  lines.set(request, line);
}

/**
 * As recorded, otherwise from the Request itself. Ignores the origin, because the sender chooses
 * the `Host`.
 */
export function readRequestLine(request: Request): RequestLine {
  return lines.of(request) ?? { method: request.method, target: readPath(request.url) };
}

/** One object for each request, whatever Requests were made from it. */
export function findSource(request: Request): object {
  return messages.of(request) ?? request;
}
