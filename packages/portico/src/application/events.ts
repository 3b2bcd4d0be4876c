import type { Log } from '@portico/sql';
import type { Events } from './started-application.ts';

/**
 * The names of the two host hooks and of the kit's events. Plugins emit further events.
 *
 * @example
 * application.events.on(Event.SIGN_IN_FAILED, (failed: FailedSignIn) => count(failed.address));
 */
export const Event = {
  /** The hook for exceptions. A listener receives the exception, and can return the response. */
  EXCEPTION: 'exception',
  /** The hook for responses. A listener receives every response, and can return another one. */
  RESPONSE_HEADER: 'response_header',
  /**
   * A sign-in failed: the password is wrong or no account has the identifier. Listeners run before
   * the response is sent. The payload is a FailedSignIn.
   */
  SIGN_IN_FAILED: 'sign_in_failed',
  /**
   * The kit answers a sign-in with 429 for the first time, after many failures. Emitted again only
   * after 15 minutes without a failure. The payload is a FailedSignIn.
   */
  SIGN_IN_SLOWED: 'sign_in_slowed',
  /**
   * `serve` received the signal to stop. During the `--drain` time, the server still handles
   * requests, but its readiness probe fails.
   */
  STOPPING: 'stopping',
} as const;

type Listener = (payload: unknown) => unknown;
const NONE: readonly Listener[] = [];

/** Emits events, and runs the host's hooks for exceptions and responses. */
export class HostEvents implements Events {
  readonly #listeners = new Map<string, Listener[]>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  on(event: string, listener: (payload: never) => unknown): void {
    this.#listeners.set(event, [...this.#registered(event), listener as Listener]);
  }

  async emit(event: string, payload: unknown): Promise<void> {
    for (const listener of this.#registered(event)) {
      try {
        await listener(payload);
      } catch (exception) {
        this.#log.error('A listener of {event} failed: {exception}', { event, exception });
      }
    }
  }

  /** Passes an exception to the listeners. Returns the first response of a listener, or null. */
  async answerException(exception: unknown): Promise<Response | null> {
    for (const listener of this.#registered(Event.EXCEPTION)) {
      const response = await listener(exception);
      if (response instanceof Response) return response;
    }
    return null;
  }

  /** Passes a response through all listeners, and returns the result. */
  passResponse(response: Response): Response | Promise<Response> {
    const passing = this.#registered(Event.RESPONSE_HEADER);
    return passing.length === 0 ? response : pass(response, passing);
  }

  #registered(event: string): readonly Listener[] {
    return this.#listeners.get(event) ?? NONE;
  }
}

async function pass(response: Response, listeners: readonly Listener[]): Promise<Response> {
  let passed = response;
  for (const listener of listeners) {
    const returned = await listener(passed);
    if (returned instanceof Response) passed = returned;
  }
  return passed;
}
