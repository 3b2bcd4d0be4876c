import type { Timer } from './opened.ts';

/** The clock and the timers of this process. */
export const systemTimer: Timer = {
  now: () => performance.now(),
  after(milliseconds, call) {
    const timeout = setTimeout(call, milliseconds);
    return () => clearTimeout(timeout);
  },
};
