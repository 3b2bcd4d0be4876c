import { setTimeout as wait } from 'node:timers/promises';
import { TestRunner, type RunnerTestCase } from 'vitest';
import { findings, found } from './findings.ts';

/** The variables that Stryker's mutated sources read. */
interface Switches {
  activeMutant?: string;
  currentTestId?: string;
  hitCount?: number | undefined;
  hitLimit?: number;
  mutantCoverage?: { readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

/** Returns the failed attempts of every server in this process. build.ts exposes them. */
const remembered = (): readonly Map<string, unknown>[] =>
  ((globalThis as Record<string, unknown>)['__failedAttempts__'] as
    Map<string, unknown>[] | undefined) ?? [];

/** How much longer a test may take with a mutant than without, in milliseconds. */
const PATIENCE = 10_000;
/** The maximum computing time for one mutant, in milliseconds. */
const BUDGET = Number(process.env['MUTATION_BUDGET']);

/**
 * Runs each test once, and then again with every mutant that it reaches and that no test has killed
 * yet. The server of the test file keeps running between the runs. A test kills a mutant if it
 * passes before, fails with the mutant, and passes again afterwards.
 */
export default class EveryMutant extends TestRunner {
  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    if (this.injectValue('everyMutant') === true) await runWithEach(test, run);
    else await run();
  }
}

async function runWithEach(test: RunnerTestCase, run: () => unknown): Promise<void> {
  const switches = (globalThis as Record<string, unknown>)['__stryker__'] as Switches;
  const id = switches.currentTestId ?? '';
  // Unlike this clock, a test can set back the others.
  const [started, before] = [process.uptime(), process.cpuUsage()];
  const problem = await attempt(test, run, 6 * PATIENCE);
  if (problem !== null) return found({ test: id, unfit: `before any mutant: ${problem}` });
  const patience = PATIENCE + 5000 * (process.uptime() - started);
  const cost = process.cpuUsage(before).user / 1000;
  const reached = { ...switches.mutantCoverage?.perTest[id] };
  const withstood: string[] = [];
  let unfit: string | null = null;
  const again = async () => {
    await callEach('beforeEach', test);
    await run();
  };
  for (const mutant of stillToTry(Object.keys(reached), cost)) {
    await callEach('afterEach', test);
    switches.activeMutant = mutant;
    switches.hitCount = 0;
    // This limit ends a loop that the mutant made endless.
    switches.hitLimit = 1000 + 100 * (reached[mutant] ?? 0);
    const why = await attempt(test, again, patience);
    switches.activeMutant = '';
    switches.hitCount = undefined;
    if (why === null) {
      withstood.push(mutant);
      continue;
    }
    await callEach('afterEach', test);
    unfit = await attempt(test, again, patience);
    if (unfit !== null) break;
    found({ killed: mutant, by: id, why });
  }
  found({ test: id, withstood, cost });
  if (unfit !== null) found({ test: id, unfit: `after a mutant: ${unfit}` });
}

/**
 * Returns the mutants that the test reaches, that are not killed yet, and that have enough of their
 * budget left.
 */
function stillToTry(reached: readonly string[], cost: number): readonly string[] {
  const killed = new Set<string>();
  const paid = new Map<string, number>();
  for (const each of findings()) {
    if ('killed' in each) killed.add(each.killed);
    if (!('withstood' in each)) continue;
    for (const mutant of each.withstood) paid.set(mutant, (paid.get(mutant) ?? 0) + each.cost);
  }
  return reached.filter(
    (mutant) => !killed.has(mutant) && (paid.get(mutant) ?? 0) + cost <= BUDGET,
  );
}

/** Returns why the test failed, or null if it passed. */
async function attempt(
  test: RunnerTestCase,
  run: () => unknown,
  patience: number,
): Promise<string | null> {
  for (const failures of remembered()) failures.clear();
  // Forget the open assertions of a call that never ended. Otherwise, Vitest would wait for them at
  // the end of the next call.
  (test as { promises?: unknown[] }).promises = [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no end after ${patience} ms`), patience);
  });
  try {
    const why = await Promise.race([outcome(test, run), late]);
    // A call that never ends leaves its server running. Close it, because closing it during the
    // next call would take longer than that call may take.
    await soon(tidyUp(test));
    return why;
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for something that a mutant may have made endless. */
async function soon(ending: Promise<unknown>): Promise<void> {
  await Promise.race([ending.catch(() => undefined), wait(2 * PATIENCE, null, { ref: false })]);
}

async function outcome(test: RunnerTestCase, run: () => unknown): Promise<string | null> {
  try {
    await run();
    return test.fails === true ? 'it passed' : null;
  } catch (error) {
    if (test.fails === true) return null;
    return String(error instanceof Error ? error.message : error).slice(0, 200);
  } finally {
    await tidyUp(test);
  }
}

/**
 * Runs the hooks of the file and of each group that contains the test. Vitest runs them only before
 * and after the one call that it knows.
 */
async function callEach(when: 'beforeEach' | 'afterEach', test: RunnerTestCase): Promise<void> {
  type Group = Parameters<typeof TestRunner.getSuiteHooks>[0];
  const groups: Group[] = [test.file];
  for (let { suite } = test; suite !== undefined; suite = suite.suite) groups.splice(1, 0, suite);
  const hooks = groups.flatMap((group) =>
    (TestRunner.getSuiteHooks(group)[when] as ((...asked: unknown[]) => unknown)[]).map(
      (hook) => async () => hook(test.context, group),
    ),
  );
  for (const hook of when === 'beforeEach' ? hooks : hooks.toReversed()) {
    if (when === 'beforeEach') await hook();
    else await soon(hook());
  }
}

/** Runs the clean-up of a test. Vitest would run it only after the last call. */
async function tidyUp(test: RunnerTestCase): Promise<void> {
  const ending = test as { onFinished?: ((context: unknown) => unknown)[] };
  const wanted = ending.onFinished ?? [];
  ending.onFinished = [];
  for (const each of wanted.toReversed())
    await Promise.resolve(each(test.context)).catch(() => undefined);
}
