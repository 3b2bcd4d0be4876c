import type { Log } from '../contracts/log.ts';
import type { Events } from './contracts.ts';

/** The two host hooks, and what the kit tells of. Plugins emit events of their own beside them. */
export const Event = {
  /** Receives the thrown exception, returns the response. */
  EXCEPTION: 'exception',
  /** Receives every response, returns the response to send. */
  RESPONSE_HEADER: 'response_header',
  /** A password was wrong, or nobody has the identifier: a FailedSignIn, told before it is answered. */
  SIGN_IN_FAILED: 'sign_in_failed',
  /**
   * The first sign-in that was answered 429, after many that failed: a FailedSignIn. It is not told again until there was no
   * failure for a quarter of an hour.
   */
  SIGN_IN_SLOWED: 'sign_in_slowed',
} as const;

/** Events, and the two hooks as the application runs them. */
export interface HostEvents extends Events {
  /** What the listeners make of an exception; null when none answers it. */
  answerException(exception: unknown): Promise<Response | null>;
  /** The response as the listeners leave it. */
  passResponse(response: Response): Response | Promise<Response>;
}

type Listener = (payload: unknown) => unknown;
const NOBODY: readonly Listener[] = [];

export function createEvents(log: Log): HostEvents {
  const listeners = new Map<string, Listener[]>();
  const listenersOf = (event: string): readonly Listener[] => listeners.get(event) ?? NOBODY;
  return {
    on(event, listener) {
      listeners.set(event, [...listenersOf(event), listener as Listener]);
    },
    async emit(event, payload) {
      for (const listener of listenersOf(event)) {
        try {
          await listener(payload);
        } catch (exception) {
          log.error('A listener of {event} failed: {exception}', { event, exception });
        }
      }
    },
    async answerException(exception) {
      for (const listener of listenersOf(Event.EXCEPTION)) {
        const response = await listener(exception);
        if (response instanceof Response) return response;
      }
      return null;
    },
    passResponse(response) {
      const passing = listenersOf(Event.RESPONSE_HEADER);
      return passing.length === 0 ? response : pass(response, passing);
    },
  };
}

async function pass(response: Response, listeners: readonly Listener[]): Promise<Response> {
  let passed = response;
  for (const listener of listeners) {
    const returned = await listener(passed);
    if (returned instanceof Response) passed = returned;
  }
  return passed;
}
