import { token } from 'portico';
import type { RequestId } from './messages.ts';

/**
 * The tool calls that run in this process. `notifications/cancelled` can cancel them (MCP,
 * Cancellation). A call is removed when it ends.
 */
export class RunningCalls {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Runs a call. Aborts the call's signal when `signal` is aborted or the call is cancelled. */
  async run<Answer>(
    id: RequestId,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const key = getKey(id);
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

  /** Cancels a call if exactly one call of this process has this id and the same authorization. */
  cancel(id: RequestId): void {
    const key = getKey(id);
    const same = key === null ? undefined : this.#running.get(key);
    const [only] = same ?? [];
    // Without sessions, the endpoint cannot distinguish several calls with the same id, so it
    // cancels none of them.
    if (same?.size === 1) only?.abort();
  }
}

/**
 * Builds a key from the call's id and the authorization of the request's token. The authorization
 * stays the same when the client refreshes its token. Returns null if the token belongs to no
 * account, so such a call cannot be cancelled. All users of a service share one token, and each
 * session numbers its calls from the same start, so one user could cancel another user's call.
 */
function getKey(id: RequestId): string | null {
  const authorization = token().authorizationId();
  return authorization === null ? null : JSON.stringify([authorization, id]);
}
