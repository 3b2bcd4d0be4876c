import type { IncomingMessage } from 'node:http';
import { Note } from './note.ts';
import { pathOf } from './request-target.ts';

/** Node's message behind a Request that was made of it. */
export const messages = new Note<IncomingMessage>('incoming');

/** How a request was sent. */
export interface RequestLine {
  readonly method: string;
  /** Path and query as they arrived, in front of whatever a framework or a proxy behind them makes of it. */
  readonly target: string;
}

const lines = new Note<RequestLine>('request line');

/** For a Request that stands for another one, and has neither its method nor its path. */
export function noteRequestLine(request: Request, line: RequestLine): void {
  lines.set(request, line);
}

/** As it was noted, otherwise as the Request itself has it. Its origin says nothing: whoever sends a request chooses its `Host`. */
export function requestLineOf(request: Request): RequestLine {
  return lines.of(request) ?? { method: request.method, target: pathOf(request.url) };
}

/** One object for each request, whatever Requests were made of it. */
export function sourceOf(request: Request): object {
  return messages.of(request) ?? request;
}
