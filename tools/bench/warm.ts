import { measure } from './measure.ts';
import { programOf } from './programs.ts';
import type { Bench } from './server.ts';
import { WORKS } from './works.ts';

/**
 * Gives a target load before the measurement, on ten connections and spread over the works. Only
 * programs that compile themselves while they run need this for a long time.
 */
export async function warmUp(bench: Bench): Promise<void> {
  const seconds = programOf(bench.name)?.warmUp ?? 0;
  if (seconds === 0) return;
  const works = WORKS.filter(({ applies }) => applies(bench.seeded));
  for (const work of works) {
    await measure(bench.port, (connection) => work.prepare(bench.seeded, connection), {
      connections: 10,
      warmUp: 0,
      seconds: seconds / works.length,
    });
  }
}
