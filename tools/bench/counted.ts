import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Connection } from './connection.ts';
import { Bench, type RunningTarget } from './server.ts';
import { WORKS, type Work } from './works.ts';

/**
 * Options that make V8 run the same instructions each time: no compiler that decides by time, no
 * other threads, no random seeds, and no code that V8 drops when it is old. Garbage collection
 * follows a schedule. There is little space for young objects, so that each block of requests pays
 * for its own garbage. There is much space for old objects, so that no block pays for all of them.
 */
const STEADY = [
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--no-lazy-feedback-allocation',
  '--no-flush-bytecode',
  '--single-threaded',
  '--hash-seed=1',
  '--random-seed=1',
  '--predictable-gc-schedule',
  '--no-incremental-marking',
  '--max-semi-space-size=1',
  '--initial-heap-size=512',
];
/** The number of requests in one block. As many requests run before it and are not counted. */
const REQUESTS = 60;
/** A whole authorization is several requests, so its block has fewer of them. */
const LONG = 'whole authorization';
const AUTHORIZATIONS = 8;
const BLOCKS = 5;

/** A server of a checkout whose instructions are counted. */
export class Counted {
  readonly #bench: Bench;
  readonly #running: RunningTarget;

  private constructor(bench: Bench, running: RunningTarget) {
    this.#bench = bench;
    this.#running = running;
  }

  /** Starts the server of this checkout. It writes its temporary files into the folder. */
  static async start(checkout: string, folder: string): Promise<Counted> {
    const bench = await Bench.seed(path.join(checkout, 'tools', 'bench', 'targets', 'portico'));
    const options = { pinned: false, nodeOptions: STEADY };
    // The first start fills Node's compile cache, so that the next one is short.
    const first = await bench.start(options);
    await first.stop();
    const counter = [
      'valgrind',
      '--quiet',
      '--tool=callgrind',
      '--instr-atstart=no',
      '--smc-check=all-non-file',
      `--callgrind-out-file=${path.join(folder, 'callgrind.%p')}`,
    ];
    return new Counted(bench, await bench.start({ ...options, below: counter }));
  }

  /** Returns the instructions of a request for each work. */
  async costs(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const works = WORKS.filter(({ name }) => names.includes(name));
    const steps = new Map<Work, () => Promise<unknown>>();
    const connection = await Connection.open(this.#bench.port);
    for (const work of works) steps.set(work, await work.prepare(this.#bench.seeded, connection));
    await this.#control('-i', 'on');
    const costs = new Map<string, number>();
    for (const [{ name }, step] of steps)
      costs.set(name, await this.#cost(step, name === LONG ? AUTHORIZATIONS : REQUESTS));
    connection.close();
    return costs;
  }

  /**
   * Returns the mean of the blocks, without the cheapest and the most expensive one: SQLite moves
   * its log into the database only in some blocks. Does not count the first block.
   */
  async #cost(step: () => Promise<unknown>, requests: number): Promise<number> {
    const each: number[] = [];
    let before = 0;
    for (let block = 0; block <= BLOCKS; block += 1) {
      for (let request = 0; request < requests; request += 1) await step();
      const now = await this.#instructions();
      if (block > 0) each.push((now - before) / requests);
      before = now;
    }
    const middle = each.toSorted((one, other) => one - other).slice(1, -1);
    return Math.round(middle.reduce((sum, cost) => sum + cost, 0) / middle.length);
  }

  /** Returns the number of instructions so far, in all threads. */
  async #instructions(): Promise<number> {
    const stdout = await this.#control('-e');
    const threads = [...stdout.matchAll(/^ +Th ?\d+ +([\d,]+)/gm)];
    if (threads.length === 0) throw new Error(`No instructions were counted: ${stdout}`);
    return threads.reduce((sum, [, count = '']) => sum + Number(count.replaceAll(',', '')), 0);
  }

  async #control(...command: readonly string[]): Promise<string> {
    const args = [...command, String(this.#running.pid)];
    return (await promisify(execFile)('callgrind_control', args)).stdout;
  }

  async stop(): Promise<void> {
    await this.#running.stop();
    await this.#bench.remove();
  }
}
