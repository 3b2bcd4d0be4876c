// node bench/dist/profile.js [target] prints how each work uses the processor's time. It uses
// Node's own profiler.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { measure } from './measure.ts';
import { printRows } from './print.ts';
import { storeResult } from './results.ts';
import { Bench } from './server.ts';
import { WORKS } from './works.ts';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** The time since the previous sample, in microseconds. */
  readonly timeDeltas: readonly number[];
}

/**
 * How many seconds the profile leaves out at the beginning, while the program is loaded and
 * compiled.
 */
const WARM_UP = 4;
const SECONDS = 6;

const CATEGORIES = [
  'SQLite',
  'socket writes',
  "Node's HTTP and streams",
  'crypto',
  'promises and timers',
  'garbage',
  'HTTP adapter',
  'ours',
  'the rest',
] as const;
type Category = (typeof CATEGORIES)[number];

const name = process.argv[2] ?? 'portico';
const rows: string[][] = [];
const bench = await Bench.seed(name);
for (const work of WORKS) {
  if (!work.applies(bench.seeded)) continue;
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-profile-'));
  const running = await bench.start({ nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
  await measure(bench.port, (connection) => work.prepare(bench.seeded, connection), {
    connections: 10,
    warmUp: WARM_UP,
    seconds: SECONDS,
  });
  await running.stop();
  const [file = ''] = globSync('*.cpuprofile', { cwd: folder });
  const shares = sharesOf(JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Profile);
  rmSync(folder, { recursive: true });
  const cells = CATEGORIES.map((category) => `${((shares.get(category) ?? 0) * 100).toFixed(0)} %`);
  rows.push([work.name, ...cells]);
}
await bench.remove();
printRows(['work', ...CATEGORIES], rows);
if (process.argv.length === 2)
  storeResult('profile', {
    how: `SQLite, 10 connections, ${SECONDS} s after a warm-up of ${WARM_UP} s, with Node's profiler.`,
  });

/** Returns the shares of the time in which the processor was not idle. */
function sharesOf({ nodes, samples, timeDeltas }: Profile): ReadonlyMap<Category, number> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const callers = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const shares = new Map<Category, number>();
  let [elapsed, busy] = [0, 0];
  for (const [index, sample] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    elapsed += time;
    const frame = frames.get(sample);
    if (elapsed < WARM_UP * 1_000_000 || frame === undefined || frame.functionName === '(idle)')
      continue;
    busy += time;
    const caller = frames.get(callers.get(sample) ?? -1);
    const category = categoryOf(frame, caller);
    shares.set(category, (shares.get(category) ?? 0) + time);
  }
  return new Map([...shares].map(([category, time]) => [category, time / busy]));
}

type Frame = Profile['nodes'][number]['callFrame'];

function categoryOf({ functionName, url }: Frame, caller: Frame | undefined): Category {
  // The time of an SQL statement appears under the function that runs the statement or names its
  // columns.
  if (/^(?:executePrepared|toRow|all|run)$/.test(functionName)) return 'SQLite';
  if (functionName === '(garbage collector)') return 'garbage';
  if (/^write(?:Utf8|Latin1|Ascii)String$|^writev?$|^writeBuffer$/.test(functionName))
    return 'socket writes';
  if (url.includes('@hono/node-server')) return 'HTTP adapter';
  if (
    url.includes('/dist/shared/') ||
    url.includes('/dist/host/') ||
    url.includes('/dist/oauth-server/')
  )
    return 'ours';
  if (/crypto/.test(url) || /crypto/.test(caller?.url ?? '')) return 'crypto';
  if (/_http|http|stream|net|events?\b|event_target|buffer|url|querystring/.test(url))
    return "Node's HTTP and streams";
  if (/task_queues|timers|async_|promises/.test(url) || functionName === 'runMicrotasks')
    return 'promises and timers';
  return 'the rest';
}
