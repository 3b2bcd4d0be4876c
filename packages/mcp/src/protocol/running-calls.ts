import { token } from 'portico';
import type { RequestId } from './messages.ts';

/**
 * The calls that are running in this process. A client can cancel them with
 * `notifications/cancelled` (MCP, Cancellation). A call is removed when it ends.
 */
export class RunningCalls {
  readonly #running = new Map<string, Set<AbortController>>();

  /**
   * Runs a call. Aborts the call's signal if `signal` is aborted, or if the client cancels the
   * call.
   */
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

  /**
   * Cancels the call with this id and authorization. Does nothing unless exactly one such call is
   * running in this process.
   */
  cancel(id: RequestId): void {
    const key = getKey(id);
    const same = key === null ? undefined : this.#running.get(key);
    const [only] = same ?? [];
    // If several calls have the same id, cancel none of them. Without sessions, the endpoint cannot
    // tell which one the client means.
    if (same?.size === 1) only?.abort();
  }
}

/**
 * Returns a key for the id of the call and the authorization of the token, which stays the same
 * when the client refreshes the token. Returns null for a token without a linked account, so its
 * calls cannot be canceled. All users of a service share one token, and their calls can have the
 * same ids, so one user could otherwise cancel another user's call.
 */
function getKey(id: RequestId): string | null {
  const authorization = token().authorizationId();
  return authorization === null ? null : JSON.stringify([authorization, id]);
}
