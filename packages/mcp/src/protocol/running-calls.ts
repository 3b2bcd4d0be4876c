import { hash } from 'node:crypto';
import { token } from 'portico';
import type { RequestId } from './messages.ts';

/** A message from a request whose token was checked. */
interface CallOfRequest {
  readonly request: Request;
  readonly id: RequestId;
}

/**
 * The tool calls that this process is running, so that `notifications/cancelled` can end one (MCP,
 * Cancellation). Ended calls are removed, so there are never more entries than running calls.
 */
export class RunningCalls {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Runs a call. Its signal is aborted with the given signal, and when the call is cancelled. */
  async run<Answer>(
    call: CallOfRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const key = getKey(call);
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

  /** Ends the call if this process runs exactly one call with this id for the same token. */
  cancel(call: CallOfRequest): void {
    const key = getKey(call);
    const same = key === null ? undefined : this.#running.get(key);
    const [only] = same ?? [];
    // If several calls have the same id, it is unknown which one to cancel, because there are no
    // sessions.
    if (same?.size === 1) only?.abort();
  }
}

/**
 * Returns a key from the call's token and id. Returns null without a person. All users of a service
 * share its token, and each session's ids start at the same number. So one user could end another
 * user's call.
 */
function getKey({ request, id }: CallOfRequest): string | null {
  if (token().user() === null) return null;
  return hash('sha256', JSON.stringify([request.headers.get('authorization'), id]));
}
