import { hash } from 'node:crypto';
import { token } from 'portico';
import type { RequestId } from './messages.ts';

/** A message of a request whose token was checked. */
interface CallOfRequest {
  readonly request: Request;
  readonly id: RequestId;
}

/**
 * The calls of tools that this process is working on, so that `notifications/cancelled` can end one (MCP, Cancellation).
 * Nothing is kept of a call that has ended, so there are never more of them than calls that run.
 */
export class RunningCalls {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Runs a call. Its signal is aborted with the one that is given, and when the call is cancelled. */
  async run<Answer>(
    call: CallOfRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const key = keyOf(call);
    if (key === null) return work(signal);
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const same = this.#running.get(key) ?? new Set<AbortController>();
    this.#running.set(key, same.add(ending));
    try {
      return await work(ending.signal);
    } finally {
      signal.removeEventListener('abort', end);
      same.delete(ending);
      if (same.size === 0) this.#running.delete(key);
    }
  }

  /** Ends the call, if this process is working on it for the same token and on no other with its id. */
  cancel(call: CallOfRequest): void {
    const key = keyOf(call);
    const same = key === null ? undefined : this.#running.get(key);
    const [only] = same ?? [];
    // There are no sessions: which of several calls with one id is meant cannot be told.
    if (same?.size === 1) only?.abort();
  }
}

/**
 * Names a call by the token of its request and its id. Null without a person: everybody who uses a service calls by its
 * token, with ids that each of their sessions counts from the same number, so one could end the call of another.
 */
function keyOf({ request, id }: CallOfRequest): string | null {
  if (token().user() === null) return null;
  return hash('sha256', JSON.stringify([request.headers.get('authorization'), id]));
}
