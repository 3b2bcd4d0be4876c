// node bench/dist/cost.js <work> [target ...] [--store name]
//
// Prints the processor time that the server needs for one request, in microseconds. Other programs
// on the machine disturb this figure less than other figures. The targets take turns. For a target
// of another checkout, give its file without the extension:
// `/elsewhere/bench/dist/targets/portico`. CONNECTIONS, ROUNDS and REQUESTS set the amount of work.
// DATABASE_URL is the database. `--store` keeps the figures as
// `results/<name>.json`.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase } from './database.ts';
import { Connection } from './connection.ts';
import { printRows } from './print.ts';
import { storeResult } from './results.ts';
import { Bench, type RunningTarget } from './server.ts';
import { warmUp } from './warm.ts';
import { WORKS } from './works.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { store: { type: 'string' } },
});
const [asked = '', ...named] = positionals;
const names = named.length > 0 ? named : ['portico', 'oidc-provider', 'bare'];
const many = (name: string, standard: number) => Number(process.env[name] ?? standard);
const [connections, rounds, requests] = [
  many('CONNECTIONS', 10),
  many('ROUNDS', 15),
  many('REQUESTS', 2000),
];

interface Turn {
  readonly name: string;
  readonly running: RunningTarget;
  readonly steps: readonly (() => Promise<unknown>)[];
  readonly figures: number[];
}

const benches: Bench[] = [];
const server = process.env['DATABASE_URL'];
for (const name of names)
  benches.push(await Bench.seed(name, server === undefined ? null : await createDatabase(server)));
const table: string[][] = [];
for (const work of WORKS.filter(({ name }) => name.includes(asked))) await compare(work);
for (const bench of benches) await bench.remove();
printRows(['work', 'target', 'lowest', 'lower quarter', 'median', 'median to the first'], table, {
  caption: 'Microseconds of the processor for a request:',
});
if (options.store !== undefined)
  storeResult(options.store, {
    how: `${server === undefined ? 'SQLite' : 'PostgreSQL'}, ${connections} connections, ${rounds} turns of ${requests} requests.`,
  });

async function compare(work: (typeof WORKS)[number]): Promise<void> {
  const turns: Turn[] = [];
  try {
    for (const bench of benches.filter(({ seeded }) => work.applies(seeded))) {
      const running = await bench.start();
      await warmUp(bench);
      const steps: (() => Promise<unknown>)[] = [];
      for (let index = 0; index < connections; index += 1)
        steps.push(await work.prepare(bench.seeded, await Connection.open(bench.port)));
      turns.push({ name: bench.name, running, steps, figures: [] });
    }
    // The first turns only compile the JavaScript, so do not measure them.
    for (const { steps } of turns) await doTogether(steps, requests * 4);
    for (let round = 0; round < rounds; round += 1) {
      for (const { running, steps, figures } of round % 2 === 0 ? turns : turns.toReversed()) {
        const before = running.nanoseconds();
        await doTogether(steps, requests);
        figures.push((running.nanoseconds() - before) / requests / 1000);
      }
    }
  } finally {
    for (const { running } of turns) await running.stop();
  }
  const [first] = turns;
  for (const { name, figures } of turns) {
    const ratio = first === undefined ? 0 : at(figures, 0.5) / at(first.figures, 0.5);
    const cells = [0, 0.25, 0.5].map((share) => at(figures, share).toFixed(1));
    table.push([work.name, labelOf(name), ...cells, `${ratio.toFixed(3)} ×`]);
  }
}

/**
 * Runs the work this many times. A connection starts the next request when the previous one has
 * ended.
 */
async function doTogether(
  steps: readonly (() => Promise<unknown>)[],
  count: number,
): Promise<void> {
  let begun = 0;
  await Promise.all(
    steps.map(async (step) => {
      while (begun < count) {
        begun += 1;
        await step();
      }
    }),
  );
}

/** Returns the figure that this share of the figures does not exceed. */
function at(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

function labelOf(name: string): string {
  return path.isAbsolute(name) ? path.basename(name.replace(/\/bench\/dist\/.*$/, '')) : name;
}
