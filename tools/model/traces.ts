/**
 * `npm run model:traces` writes the behaviours of the model that test/model-traces.test.ts replays.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { configOf, TRACED, type Bounds } from './bounds.ts';
import { runTlc } from './tlc.ts';
import { stepsOf, type Trace } from '../../test/support/model/trace.ts';

export const FILE = path.join(import.meta.dirname, 'traces.json');
/** The seed of the simulation. The same seed gives the same traces. */
const SEED = 21;
/** How many behaviours to simulate for each of the bounds, and how many of all to keep. */
const SIMULATED = 150;
const KEPT = 60;

/**
 * Returns this many behaviours of the model with these bounds. Each begins at the start and ends
 * when every request was answered.
 */
export async function simulate(
  given: Bounds,
  seed: number,
  count: number,
): Promise<readonly Trace[]> {
  const traces: Trace[] = [];
  let printed = '';
  const heard = (line: string): boolean => {
    if (printed === '' && !line.startsWith('<< "trace"')) return false;
    printed += line;
    if (depthOf(printed) > 0) return false;
    traces.push({ start: given.Start, window: given.Window, steps: stepsOf(printed) });
    printed = '';
    return traces.length === count;
  };
  await runTlc({
    module: 'Traces',
    config: [...configOf(given), 'SPECIFICATION LoggedSpec', 'INVARIANTS Told'],
    options: ['-simulate', '-depth', '200', '-seed', String(seed)],
    workers: 1,
    heard,
  });
  return traces;
}

/** Returns how many brackets are open. */
const depthOf = (text: string): number => text.split('<<').length - text.split('>>').length;

/**
 * Returns the interesting features of a trace: which steps follow each other, for one request and
 * for all requests.
 */
function featuresOf({ start, window, steps }: Trace): ReadonlySet<string> {
  const before = new Map<number, string>();
  // Remember a closed window, and a lost statement that was rejected. Their effect shows only in
  // later steps of other requests.
  let since = '';
  const features = steps.flatMap(({ does, request, at, about }, index) => {
    const own = before.get(request) ?? '';
    before.set(request, does);
    const last = steps[index - 1];
    if (does === 'close window') since = 'closed';
    if (does === 'commit') since = '';
    if (
      does === 'arrive' &&
      at === '503' &&
      !steps.slice(0, index).some((each) => each.does === 'commit')
    ) {
      since = 'refused';
    }
    const beside = last === undefined || last.request === request ? [] : [`${last.does} | ${does}`];
    return [
      `${start} ${window} ${does} ${about[2] ?? ''} to ${at}`,
      `${own}, ${does} to ${at}`,
      ...beside,
      `${since}: ${does} to ${at}`,
    ];
  });
  return new Set(features);
}

/** Chooses traces. Each next trace adds as many new features as possible. */
function choose(traces: readonly Trace[], most: number): readonly Trace[] {
  const left = new Map(traces.map((trace) => [trace, featuresOf(trace)]));
  const seen = new Set<string>();
  const chosen: Trace[] = [];
  while (chosen.length < most) {
    const worth = [...left].map(([trace, features]) => ({
      trace,
      count: [...features].filter((each) => !seen.has(each)).length,
    }));
    const [best] = worth.toSorted((one, other) => other.count - one.count);
    if (best === undefined || best.count === 0) break;
    for (const feature of left.get(best.trace) ?? []) seen.add(feature);
    left.delete(best.trace);
    chosen.push(best.trace);
  }
  return chosen;
}

/** Returns the text of the file for the current model. */
export async function written(): Promise<string> {
  const all: Trace[] = [];
  for (const given of TRACED) all.push(...(await simulate(given, SEED, SIMULATED)));
  const lines = choose(all, KEPT).map((trace) => JSON.stringify(trace));
  return `[\n${lines.join(',\n')}\n]\n`;
}

if (import.meta.main) await writeFile(FILE, await written());
