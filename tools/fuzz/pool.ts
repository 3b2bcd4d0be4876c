import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { SHARED, type Finding, type Order, type Said, type Summary } from './engine/protocol.ts';
import { asLine } from './engine/texts.ts';
import { removeScratch } from './support/scratch.ts';
import { buildTree, type Tree } from './engine/tree.ts';

/** The options of a run. It runs targets in threads and ends threads that hang. */

export interface FuzzOptions {
  /** The names of the targets. */
  readonly targets: readonly string[];
  /**
   * How long to fuzz each target, in seconds. With 0, the run tries only the seeds and the kept
   * inputs.
   */
  readonly seconds: number;
  /** The number of threads that run at the same time. */
  readonly atOnce: number;
  readonly seed: number;
  /** The faults of `faults.ts` to plant. A target runs once for each of its faults. */
  readonly faults?: readonly { readonly name: string; readonly target: string }[];
  /** Whether to write the inputs to keep to `.build/fuzz/corpus/`. */
  readonly keeps?: boolean;
  /** Ends all threads early. */
  readonly signal?: AbortSignal;
  /** Called with each finding immediately. */
  readonly noticed?: (finding: Finding) => void;
  /** Called with each result immediately. */
  readonly report?: (result: Result) => void;
}

export interface Result {
  readonly target: string;
  readonly fault: string | null;
  readonly findings: readonly Finding[];
  /** The summary. It is null if the thread did not end normally. */
  readonly summary: Summary | null;
}

/** The maximum processor time for one input, in seconds. The run then ends the thread. */
const HANGS = 10;
/** The maximum time for one input in which the thread does nothing, in seconds. */
const SLEEPS = 120;
/** The most memory, in MiB. */
const MEMORY = 384;
/** The most different findings for one target. */
const ENOUGH = 20;

const here = import.meta.dirname;

/** Returns the names of all targets. */
export function targetNames(): readonly string[] {
  return globSync('*.ts', { cwd: path.join(here, 'targets') })
    .map((file) => file.replace(/\.ts$/, ''))
    .toSorted();
}

/**
 * Returns the kept inputs of a target: those that once showed a fault, and those that a run with
 * `--keep` has stored on this machine.
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
    // Use only the seeds to find a planted fault. Some of the kept inputs were found because of
    // such a fault.
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

/**
 * Returns the file with the inputs that reach every known place. Git ignores the file, because
 * another run finds these inputs again.
 */
function keptFile(target: string): string {
  return path.join(here, '..', '..', '.build', 'fuzz', 'corpus', `${target}.txt`);
}
