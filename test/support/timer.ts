import type { Timer } from 'portico';

/** Creates a timer that a test moves. */
export function createTimer(): Timer & {
  /** Lets this many milliseconds pass, and runs the calls that are due. */
  advance(milliseconds: number): void;
  /** Returns the number of calls that are still scheduled. */
  waiting(): number;
} {
  let now = 0;
  const calls = new Set<{ readonly at: number; readonly call: () => void }>();
  return {
    now: () => now,
    after(milliseconds, call) {
      const entry = { at: now + milliseconds, call };
      calls.add(entry);
      return () => calls.delete(entry);
    },
    advance(milliseconds) {
      now += milliseconds;
      // A call that another call schedules runs only the next time.
      const due = Array.from(calls).filter(({ at }) => at <= now);
      for (const entry of due) {
        calls.delete(entry);
        entry.call();
      }
    },
    waiting: () => calls.size,
  };
}
