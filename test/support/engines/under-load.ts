import type { RunningPortal } from '../portal.ts';
import { startWorkload } from '../history/workload.ts';
import { startClients, type Clients } from './clients.ts';

/** Two kinds of clients: of the first each answer is counted by itself, of the second all answers are held against the model of grants. */
export type Load = Pick<Clients, 'answered' | 'unavailable'>;

interface Processes {
  readonly portal: RunningPortal;
  readonly urls: readonly string[];
}

/** How many use the processes at the same time. */
export const PEOPLE = 6;

/** Has clients use the processes while something happens to their database; prints the counts, and returns what was broken. */
export async function underLoad(
  title: string,
  { portal, urls }: Processes,
  faults: (load: Load) => Promise<void>,
): Promise<readonly string[]> {
  const clients = await startClients({ portal, urls, clients: PEOPLE / 2 });
  const workload = await startWorkload({ portal, urls, clients: PEOPLE / 2 });
  const both = (what: keyof Load) => async (count: number) => {
    await Promise.all([clients[what](count / 2), workload[what](count / 2)]);
  };
  await faults({ answered: both('answered'), unavailable: both('unavailable') });
  const [counted, held] = await Promise.all([clients.stop(), workload.stop()]);
  process.stdout.write(`${title}:\n  ${counted.line}\n  ${held.line}\n`);
  return [...counted.texts, ...held.texts];
}

/** The fault in the middle of the load, so many times. */
export function timesUnderLoad(
  times: number,
  title: string,
  processes: Processes,
  fault: (load: Load) => Promise<void>,
): Promise<readonly string[]> {
  return underLoad(`${times} times ${title}`, processes, async (load) => {
    for (let count = 0; count < times; count += 1) {
      await load.answered(100);
      await fault(load);
      await load.answered(100);
    }
  });
}
