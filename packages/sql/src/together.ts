import { AsyncLocalStorage } from 'node:async_hooks';

/** Reads that answer one question together, while they run (`Database.readTogether`). */
export interface Together {
  isOver: boolean;
  /** What one of the reads answered beside what it was asked for; whoever put it there knows it again. */
  beside: object | null;
}

const running = new AsyncLocalStorage<Together>();

/** Those that this belongs to; null for what belongs to none, or goes on behind their end. */
export function readsTogether(): Together | null {
  const together = running.getStore();
  return together === undefined || together.isOver ? null : together;
}

/** Runs work whose reads belong together; `onEnd` is told when it is over. */
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
