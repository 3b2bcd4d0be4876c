import type { Timer } from '../../portico/src/application/contracts.ts';

export const systemTimer: Timer = {
  now: () => performance.now(),
  after(milliseconds, call) {
    const timeout = setTimeout(call, milliseconds);
    return () => clearTimeout(timeout);
  },
};
