import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { startCoverage } from './engine/coverage.ts';
import { mutate } from './engine/mutations.ts';
import { SHARED, type Finding, type Order, type Said, type Summary } from './engine/protocol.ts';
import { createRandom } from './engine/random.ts';
import { asLine, fromLine } from './engine/texts.ts';
import type { Run, Target } from './target.ts';

/**
 * One thread. It tries inputs on one target, and derives further inputs from those that did
 * something new.
 */

const order = workerData as Order;
const coverage = startCoverage(order.places);
(globalThis as { fault?: string | null }).fault = order.fault;
const { target } = (await import(`./targets/${order.target}.ts`)) as { readonly target: Target };
const run: Run = await target.start();

/**
 * The number of inputs after which the event loop runs. Otherwise, timers and finalizers would
 * never run, and the memory that they hold would grow.
 */
const TURN = 32;
/**
 * The maximum length of an input that is kept only because it entered a place more often, in bytes.
 */
const LONGEST_COUNTED = 1024;
const random = createRandom(order.seed);
const longest = target.longest ?? 16_384;
const slowest = target.slowest ?? 200;
const began = performance.now();
const header = new Int32Array(order.shared, 0, 3);
const current = new Uint8Array(order.shared, SHARED.bytes);
const pool: Buffer[] = [];
const known = new Set<string>();
let tried = 0;
let slow: Summary['slowest'] = { milliseconds: 0, length: 0 };
let hardest = 0;

interface Tried {
  /** The error that the parser threw, or undefined. */
  readonly thrown: unknown;
  readonly milliseconds: number;
}

async function attempt(input: Buffer): Promise<Tried> {
  current.set(input);
  Atomics.store(header, SHARED.length, input.length);
  Atomics.add(header, SHARED.tried, 1);
  coverage.begin();
  const from = performance.now();
  let thrown: unknown;
  try {
    const answer = run(input);
    if (answer !== undefined) await answer;
  } catch (error) {
    thrown = error ?? new Error('It threw nothing');
  }
  tried += 1;
  return { thrown, milliseconds: performance.now() - from };
}

/**
 * Returns the shortest time of three more attempts. The shortest time contains the least time of
 * the compiler, the garbage collector and other programs.
 */
async function timeOf(
  input: Buffer,
): Promise<{ readonly clock: number; readonly processor: number }> {
  let [clock, processor] = [Infinity, Infinity];
  for (let round = 0; round < 3; round += 1) {
    const from = process.threadCpuUsage();
    clock = Math.min(clock, (await attempt(input)).milliseconds);
    const { user, system } = process.threadCpuUsage(from);
    processor = Math.min(processor, (user + system) / 1000);
  }
  return { clock, processor };
}

/**
 * Returns the same key for two inputs with the same fault. The key contains the message without
 * numbers, and the first line of the sources in the stack.
 */
function keyOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return inspect(thrown);
  const place = /(?:src|targets)\/[^\s)]*/.exec(thrown.stack ?? '')?.[0] ?? '';
  return `${thrown.name}: ${thrown.message.replaceAll(/\d+|"[^"]*"/g, '#').slice(0, 120)} ${place}`;
}

async function smaller(input: Buffer, key: string): Promise<Buffer> {
  let best = input;
  let rest = 400;
  for (let size = Math.ceil(best.length / 2); size >= 1 && rest > 0; size = Math.floor(size / 2)) {
    for (let from = 0; from < best.length && rest > 0;) {
      const shorter = Buffer.concat([best.subarray(0, from), best.subarray(from + size)]);
      rest -= 1;
      const { thrown } = await attempt(shorter);
      if (thrown !== undefined && keyOf(thrown) === key) best = shorter;
      else from += size;
    }
  }
  return best;
}

function tell(said: Said): void {
  parentPort?.postMessage(said, []);
}

function found(kind: Finding['kind'], message: string, input: Buffer): void {
  const after = (performance.now() - began) / 1000;
  tell({
    type: 'finding',
    finding: { target: order.target, kind, message, input: asLine(input), after },
  });
}

async function judge(input: Buffer, { thrown, milliseconds }: Tried): Promise<void> {
  if (thrown !== undefined) {
    const key = keyOf(thrown);
    if (known.has(key)) return;
    known.add(key);
    const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : inspect(thrown);
    found('fault', message, await smaller(input, key));
    return;
  }
  if (milliseconds <= slow.milliseconds) return;
  const { clock, processor } = await timeOf(input);
  const time = Math.min(milliseconds, clock);
  if (time > slow.milliseconds) slow = { milliseconds: time, length: input.length };
  // The system counts processor time in large steps, and the clock also runs while other programs
  // use the processor. Use the smaller of the two.
  if (Math.min(time, 2 * processor) <= slowest || known.has('slow')) return;
  known.add('slow');
  found('slow', `${input.length} bytes took ${time.toFixed(0)} ms`, input);
}

async function offer(input: Buffer): Promise<void> {
  const outcome = await attempt(input);
  hardest = Math.max(hardest, coverage.work() / (input.length + 100));
  const news = coverage.news();
  const isNew = news === 'place' || (news === 'count' && input.length <= LONGEST_COUNTED);
  await judge(input, outcome);
  // Keep only inputs without a fault. Inputs derived from a fault would show the same fault again.
  if (isNew && outcome.thrown === undefined) pool.push(input);
}

/** Chooses an input. Later and shorter inputs are chosen more often. */
function chosen(): Buffer {
  const from = random.oneIn(2) ? Math.floor((pool.length * 2) / 3) : 0;
  const one = pool[from + random.below(pool.length - from)] ?? Buffer.alloc(0);
  const other = pool[random.below(pool.length)] ?? one;
  return other.length < one.length && random.oneIn(3) ? other : one;
}

for (const input of [
  ...target.seeds.map((seed) => Buffer.from(seed)),
  ...order.corpus.map(fromLine),
]) {
  await offer(input.subarray(0, longest));
}
const ends = began + order.seconds * 1000;
const dictionary = target.dictionary ?? [];
const { words, compared } = coverage;
const isAsked = () => Atomics.load(header, SHARED.ends) === 1;
while (performance.now() < ends && known.size < order.enough && !isAsked()) {
  const own = random.oneIn(10) ? words : dictionary;
  await offer(
    mutate(chosen(), { random, dictionary: own, words, compared, other: chosen, longest }),
  );
  if (tried % TURN === 0) await nextTurn();
}

/** Returns a small set of short inputs that together enter every place that any input entered. */
async function minimal(): Promise<readonly string[]> {
  const entered = new Set<number>();
  const kept: string[] = [];
  for (const input of pool.toSorted((one, other) => one.length - other.length)) {
    if (input.length > 2048) break;
    const { thrown } = await attempt(input);
    const adds = coverage.entered().filter((place) => !entered.has(place));
    if (thrown !== undefined || adds.length === 0) continue;
    for (const place of adds) entered.add(place);
    kept.push(asLine(input));
  }
  return kept;
}

const seconds = (performance.now() - began) / 1000;
tell({
  type: 'end',
  corpus: order.keeps ? await minimal() : [],
  summary: {
    inputs: tried,
    seconds,
    entered: coverage.total(),
    kept: pool.length,
    slowest: slow,
    hardest,
    heap: getHeapStatistics().used_heap_size / 1024 ** 2,
  },
});
