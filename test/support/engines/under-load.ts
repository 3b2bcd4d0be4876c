import { startWorkload, type Workload, type WorkloadOptions } from '../history/workload.ts';
import type { RunningPortal } from '../portal.ts';

interface Processes extends Pick<WorkloadOptions, 'asksAgain'> {
  readonly portal: RunningPortal;
  readonly urls: readonly string[];
}

/** How many clients use the processes at the same time. */
export const CLIENTS = 6;

/**
 * Lets clients use the processes while `meanwhile` causes a fault in their database. Prints the
 * counts, and returns the broken promises.
 */
export async function underLoad(
  title: string,
  processes: Processes,
  meanwhile: (load: Workload) => Promise<void>,
): Promise<readonly string[]> {
  const load = await startWorkload({ ...processes, clients: CLIENTS });
  await meanwhile(load);
  const { line, texts } = await load.stop();
  process.stdout.write(`${title}:\n  ${line}\n`);
  return texts;
}

/** Causes a fault this many times while clients use the processes. */
export function timesUnderLoad(
  times: number,
  title: string,
  processes: Processes,
  fault: (load: Workload) => Promise<void>,
): Promise<readonly string[]> {
  return underLoad(`${times} times ${title}`, processes, async (load) => {
    for (let count = 0; count < times; count += 1) {
      await load.answered(100);
      await fault(load);
      await load.answered(100);
    }
  });
}
