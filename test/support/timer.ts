import type { Timer } from 'portico/host';

/** Time that passes when a test says so. */
export function createTimer(): Timer & {
  /** So many milliseconds pass, and what was waiting for them is called. */
  advance(milliseconds: number): void;
  /** How many calls are still to come. */
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
      // One that is added meanwhile is for later.
      const due = Array.from(calls).filter(({ at }) => at <= now);
      for (const entry of due) {
        calls.delete(entry);
        entry.call();
      }
    },
    waiting: () => calls.size,
  };
}
