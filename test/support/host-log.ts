import type { Log, LogContext } from 'portico';

/** A host's log, and its lines: each message, and the message of its exception. */
export function createHostLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, { exception }: LogContext = {}) => {
    lines.push(exception instanceof Error ? `${message} ${exception.message}` : message);
  };
  return { lines, log: { debug: write, info: write, warning: write, error: write } };
}
