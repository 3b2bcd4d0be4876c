import { AsyncLocalStorage } from 'node:async_hooks';

/** A running group of reads that belong together (`Database.readTogether`). */
export interface Together {
  isOver: boolean;
  /**
   * Data that one read stores for later reads of the group. Only the code that stored it reads it.
   */
  beside: object | null;
}

const running = new AsyncLocalStorage<Together>();

/**
 * Returns the group of the current read. Returns null outside a group and after the group has
 * ended.
 */
export function readsTogether(): Together | null {
  const together = running.getStore();
  return together === undefined || together.isOver ? null : together;
}

/** Runs work whose reads belong together. Calls `onEnd` when the work ends. */
export async function runTogether<T>(
  work: () => Promise<T>,
  onEnd: (together: Together) => void,
): Promise<T> {
  const together: Together = { isOver: false, beside: null };
  try {
    return await running.run(together, work);
  } finally {
    together.isOver = true;
    onEnd(together);
  }
}
