/** The value of `reached` when the time is up. */
export const REACHED = Symbol('the time limit');

export interface TimeLimit {
  /**
   * A signal that is aborted when the time is up, or when the caller disconnects or cancels the
   * call.
   */
  readonly signal: AbortSignal;
  /** Resolves when `signal` is aborted. */
  readonly reached: Promise<typeof REACHED>;
  /** Whether the work is done, or the signal is aborted. */
  readonly isOver: boolean;
  /** Removes the timer and the listener. Call this when the work is done. */
  end(): void;
}

export function startTimeLimit(seconds: number, caller: AbortSignal): TimeLimit {
  const limit = new AbortController();
  const reached = Promise.withResolvers<typeof REACHED>();
  const reach = () => {
    limit.abort();
    reached.resolve(REACHED);
  };
  // The timer is unreferenced, so that it does not keep the process running.
  const timer = setTimeout(reach, seconds * 1000).unref();
  caller.addEventListener('abort', reach);
  if (caller.aborted) reach();
  let isDone = false;
  return {
    signal: limit.signal,
    reached: reached.promise,
    get isOver() {
      return isDone || limit.signal.aborted;
    },
    end() {
      isDone = true;
      clearTimeout(timer);
      caller.removeEventListener('abort', reach);
    },
  };
}

/** Returns a text such as `took longer than 120 seconds`. */
export function tooLong(seconds: number): string {
  return `took longer than ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}
