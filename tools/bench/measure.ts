import { Connection } from './connection.ts';

/**
 * Prepares one connection. Returns a function that runs the work once, and rejects if the work
 * failed.
 */
export type Prepare = (connection: Connection) => Promise<() => Promise<unknown>>;

/** The figures of a measured work. Latencies are in milliseconds. */
export interface Measured {
  readonly done: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  /** The share of one core that the server used. It is null if it was not measured. */
  readonly busy: number | null;
}

export interface Load {
  readonly connections: number;
  /** The seconds of load before the measurement, and the measured seconds. */
  readonly warmUp: number;
  readonly seconds: number;
  /** Returns the processor time that the server has used so far, in seconds. */
  readonly processorTime?: () => number;
}

/**
 * Runs the work on several connections at the same time. Each connection repeats it until the time
 * is up. If one request fails, the measurement fails.
 */
export async function measure(port: number, prepare: Prepare, load: Load): Promise<Measured> {
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => Connection.open(port)),
  );
  try {
    const steps: (() => Promise<unknown>)[] = [];
    for (const connection of connections) steps.push(await prepare(connection));
    await repeat(steps, load.warmUp);
    const before = load.processorTime?.();
    const began = performance.now();
    const latencies = await repeat(steps, load.seconds);
    const milliseconds = performance.now() - began;
    const had = before === undefined ? null : (load.processorTime?.() ?? before) - before;
    return {
      ...summary(latencies, milliseconds),
      busy: had === null ? null : (had / milliseconds) * 1000,
    };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Repeats the steps until the time is up. Returns the duration of each, in milliseconds. */
async function repeat(
  steps: readonly (() => Promise<unknown>)[],
  seconds: number,
): Promise<number[]> {
  const until = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  await Promise.all(
    steps.map(async (step) => {
      for (let began = performance.now(); began < until;) {
        await step();
        const ended = performance.now();
        latencies.push(ended - began);
        began = ended;
      }
    }),
  );
  return latencies;
}

function summary(latencies: readonly number[], milliseconds: number): Omit<Measured, 'busy'> {
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    done: sorted.length,
    perSecond: (sorted.length / milliseconds) * 1000,
    p50: at(0.5),
    p99: at(0.99),
    slowest: at(1),
  };
}
