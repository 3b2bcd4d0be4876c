/** The value with which `reached` resolves. */
export const REACHED = Symbol('the time limit');

export interface TimeLimit {
  /**
   * A signal that is aborted when the time is up, when the caller disconnects, or when the caller
   * cancels the call.
   */
  readonly signal: AbortSignal;
  /** Resolves when `signal` is aborted. Never resolves otherwise. */
  readonly reached: Promise<typeof REACHED>;
  /** Whether the work has ended, or the signal has been aborted. */
  readonly isOver: boolean;
  /** Removes the timer and the listener. Call this method when the work has ended. */
  end(): void;
}

export function startTimeLimit(seconds: number, caller: AbortSignal): TimeLimit {
  const limit = new AbortController();
  const reached = Promise.withResolvers<typeof REACHED>();
  const reach = () => {
    limit.abort();
    reached.resolve(REACHED);
  };
  // Unreference the timer, so that it does not keep the process running.
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

/** Returns the end of a message, such as `took longer than 120 seconds`. */
export function tooLong(seconds: number): string {
  return `took longer than ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}
