import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { SHARED, type Finding, type Order, type Said, type Summary } from './engine/protocol.ts';
import { asLine } from './engine/texts.ts';
import { removeScratch } from './support/scratch.ts';
import { buildTree, type Tree } from './engine/tree.ts';

/** Runs targets in threads, and ends those that hang. */

export interface FuzzOptions {
  /** By name. */
  readonly targets: readonly string[];
  /** For each of them; 0 tries the seeds and what is kept, and nothing else. */
  readonly seconds: number;
  /** How many run side by side. */
  readonly atOnce: number;
  readonly seed: number;
  /** With the faults of `faults.ts`: each target as often as it has one. */
  readonly faults?: readonly { readonly name: string; readonly target: string }[];
  /** Whether what is worth keeping is written to `.build/fuzz/corpus/`. */
  readonly keeps?: boolean;
  /** Ends all of them, as if their time were over. */
  readonly signal?: AbortSignal;
  /** Told each finding when it is there. */
  readonly noticed?: (finding: Finding) => void;
  /** Told each result when it is there. */
  readonly report?: (result: Result) => void;
}

export interface Result {
  readonly target: string;
  readonly fault: string | null;
  readonly findings: readonly Finding[];
  /** Null when the thread did not come to its end. */
  readonly summary: Summary | null;
}

/** In seconds of the processor: an input that takes longer is ended. */
const HANGS = 10;
/** In seconds of the clock, where the thread does nothing. */
const SLEEPS = 120;
/** In MiB. */
const MEMORY = 384;
/** Different findings of one target. */
const ENOUGH = 20;

const here = import.meta.dirname;

/** The names of all targets. */
export function targetNames(): readonly string[] {
  return globSync('*.ts', { cwd: path.join(here, 'targets') })
    .map((file) => file.replace(/\.ts$/, ''))
    .toSorted();
}

/**
 * What is kept of a target: what once was a fault, and what a run with `--keep` has left on this
 * machine.
 */
export function corpusOf(target: string): readonly string[] {
  return [path.join(here, 'regressions', `${target}.txt`), keptFile(target)]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line !== '' && !line.startsWith('# '));
}

export async function fuzz(options: FuzzOptions): Promise<readonly Result[]> {
  const { targets, atOnce, faults, report = () => {} } = options;
  const tree = buildTree(faults !== undefined);
  const waiting =
    faults?.map(({ name, target }) => [target, name] as const) ??
    targets.map((target) => [target, null] as const);
  const queue = [...waiting];
  const results: Result[] = [];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = await runOne(tree, next, options);
      results.push(result);
      report(result);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, queue.length) }, lane));
  } finally {
    removeScratch();
  }
  return results;
}

function runOne(
  tree: Tree,
  [target, fault]: readonly [string, string | null],
  { seconds, seed, keeps = false, signal, noticed = () => {} }: FuzzOptions,
): Promise<Result> {
  const shared = new SharedArrayBuffer(SHARED.size);
  const order: Order = {
    target,
    fault,
    places: tree.places,
    seed,
    seconds,
    // A fault is found from the seeds alone: some of what is kept was found because of such a
    // fault.
    corpus: fault === null ? corpusOf(target) : [],
    keeps,
    enough: fault === null ? ENOUGH : 1,
    shared,
  };
  const worker = new Worker(path.join(tree.folder, 'tools', 'fuzz', 'worker.ts'), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY },
    execArgv: [],
  });
  const findings: Finding[] = [];
  const began = Date.now();
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  let over = false;

  function add(finding: Finding): void {
    findings.push(finding);
    noticed(finding);
  }

  function end(summary: Summary | null): void {
    if (over) return;
    over = true;
    clearInterval(watch);
    signal?.removeEventListener('abort', ask);
    resolve({ target, fault, findings, summary });
    void worker.terminate();
  }
  const endBy = (kind: Finding['kind'], message: string) => {
    const length = Atomics.load(new Int32Array(shared), SHARED.length);
    const input = asLine(new Uint8Array(shared, SHARED.bytes, length));
    add({ target, kind, message, input, after: (Date.now() - began) / 1000 });
    end(null);
  };

  const header = new Int32Array(shared);
  const ask = () => Atomics.store(header, SHARED.ends, 1);
  if (signal?.aborted === true) ask();
  signal?.addEventListener('abort', ask);
  let last = { tried: 0, at: Date.now(), used: 0 };
  const watch = setInterval(() => {
    void (async () => {
      const tried = Atomics.load(header, SHARED.tried);
      const { user, system } = await worker.cpuUsage();
      const used = (user + system) / 1e6;
      if (tried !== last.tried || tried === 0) last = { tried, at: Date.now(), used };
      else if (used - last.used > HANGS) endBy('hang', `It took more than ${HANGS} seconds`);
      else if (Date.now() - last.at > SLEEPS * 1000) endBy('hang', 'It was never answered');
    })().catch(() => {});
  }, 1000);

  worker.on('message', (said: Said) => {
    if (said.type === 'finding') add(said.finding);
    else {
      if (keeps) keep(target, said.corpus);
      end(said.summary);
    }
  });
  worker.on('error', (error: Error & { readonly code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      endBy('memory', `It took more than ${MEMORY} MiB`);
    else if (Atomics.load(header, SHARED.tried) > 0)
      endBy('fault', `Outside of an answer: ${error.stack}`);
    else {
      over = true;
      clearInterval(watch);
      reject(error);
    }
  });
  worker.on('exit', () => end(null));
  return promise;
}

function keep(target: string, lines: readonly string[]): void {
  const file = keptFile(target);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** The inputs that reach every known place. Git ignores them: another run finds them again. */
function keptFile(target: string): string {
  return path.join(here, '..', '..', '.build', 'fuzz', 'corpus', `${target}.txt`);
}
