import { AsyncLocalStorage } from 'node:async_hooks';

/** A group of reads that belong together, while they run (`Database.readTogether`). */
export interface Together {
  isOver: boolean;
  /** Data that one of the reads stored for later reads. Only the code that stored it uses it. */
  beside: object | null;
}

const running = new AsyncLocalStorage<Together>();

/**
 * Returns the group to which the current read belongs. Returns null outside a group, or after its
 * end.
 */
export function readsTogether(): Together | null {
  const together = running.getStore();
  return together === undefined || together.isOver ? null : together;
}

/** Runs work whose reads belong together, and calls `onEnd` when it is over. */
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
