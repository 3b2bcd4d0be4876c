import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { TestRunner, type RunnerTestCase } from 'vitest';

/** What Stryker's mutated sources look at. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: { perTest: Record<string, Record<string, number>> };
}

/** A line of what was found. Tests by Stryker's id: the file, `#` and the names. */
export type Finding =
  | { readonly killed: string; readonly by: string; readonly why: string }
  | { readonly test: string; readonly withstood: readonly string[]; readonly cost: number }
  | { readonly test: string; readonly unfit: string };

/** In Stryker's copy of the sources, where the runner reads it. */
export const FINDINGS = process.env['FINDINGS'] ?? 'mutation-findings.jsonl';

/** In milliseconds, beyond what the test takes with no mutant. */
const PATIENCE = 10_000;
/** In milliseconds of computing: what a mutant may cost. One that withstands so much is left to whoever reads of it. */
const BUDGET = Number(process.env['BUDGET'] ?? 600);

/**
 * Runs each test once, and then again with every mutant that it reaches and that nothing has killed yet: the server of the file goes
 * on running meanwhile. A mutant counts as killed by a test that passes before, fails with it, and passes again after.
 */
export default class EveryMutant extends TestRunner {
  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    if (this.injectValue('everyMutant') !== true) return run();
    const switches = (globalThis as unknown as { __stryker__?: Switches }).__stryker__ ?? {};
    const id = switches.currentTestId ?? '';
    const started = Date.now();
    const before = process.cpuUsage();
    const problem = await attempt(test, run, 3 * 60_000);
    const patience = PATIENCE + 5 * (Date.now() - started);
    const cost = process.cpuUsage(before).user / 1000;
    if (problem !== null) return found({ test: id, unfit: `before any mutant: ${problem}` });
    const reached = { ...switches.mutantCoverage?.perTest[id] };
    const { killed, cost: paid } = soFar();
    const withstood: string[] = [];
    for (const [mutant, hits] of Object.entries(reached)) {
      if (killed.has(mutant) || (paid.get(mutant) ?? 0) + cost > BUDGET) continue;
      switches.activeMutant = mutant;
      switches.hitCount = 0;
      switches.hitLimit = 1000 + 100 * hits;
      const why = await attempt(test, run, patience);
      switches.activeMutant = '';
      switches.hitCount = undefined;
      if (why === null) {
        withstood.push(mutant);
        continue;
      }
      const after = await attempt(test, run, patience);
      if (after !== null) {
        found({ test: id, withstood, cost });
        return found({ test: id, unfit: `after ${mutant}: ${after}` });
      }
      found({ killed: mutant, by: id, why });
    }
    found({ test: id, withstood, cost });
  }
}

/** Why it failed, or null. */
async function attempt(test: RunnerTestCase, run: () => unknown, patience: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no end after ${patience} ms`), patience);
  });
  const ended = (async () => {
    try {
      await run();
      return test.fails === true ? 'it passed' : null;
    } catch (error) {
      return test.fails === true ? null : String(error instanceof Error ? error.message : error).slice(0, 200);
    } finally {
      const finished = test.onFinished ?? [];
      test.onFinished = [];
      for (const each of finished.toReversed()) await Promise.resolve(each(test.context)).catch(() => {});
    }
  })();
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

function found(finding: Finding): void {
  appendFileSync(FINDINGS, `${JSON.stringify({ ...finding, at: Date.now(), cpu: process.cpuUsage().user })}\n`);
}

export function findings(): readonly Finding[] {
  if (!existsSync(FINDINGS)) return [];
  return readFileSync(FINDINGS, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Finding);
}

function soFar(): { readonly killed: ReadonlySet<string>; readonly cost: ReadonlyMap<string, number> } {
  const killed = new Set<string>();
  const cost = new Map<string, number>();
  for (const finding of findings()) {
    if ('killed' in finding) killed.add(finding.killed);
    if (!('withstood' in finding)) continue;
    for (const mutant of finding.withstood) cost.set(mutant, (cost.get(mutant) ?? 0) + finding.cost);
  }
  return { killed, cost };
}
