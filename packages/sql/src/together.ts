import { AsyncLocalStorage } from 'node:async_hooks';

/** Reads that belong to one question, while they run (`Database.readTogether`). */
export interface Together {
  isOver: boolean;
  /**
   * Something that one of the reads learned along the way. The code that stored it recognizes it.
   */
  beside: object | null;
}

const running = new AsyncLocalStorage<Together>();

/** The group that this read belongs to. Null outside a group, or after its end. */
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
