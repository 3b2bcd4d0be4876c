// A variant of Stryker's runner for Vitest. Stryker's runner runs the tests once for each mutant,
// and each run starts a server. This one runs every mutant in a single run of the tests
// (every-mutant.ts). Stryker then asks for each mutant, and gets the result that was already found.
import {
  commonTokens,
  declareFactoryPlugin,
  PluginKind,
  tokens,
  type Injector,
  type PluginContext,
} from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  MutantRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  type TestRunner,
} from '@stryker-mutator/api/test-runner';
import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner';
import { findings, type Finding } from './findings.ts';

type Create = ((injector: Injector<PluginContext>) => VitestRunner) & {
  readonly inject: readonly string[];
};
/** Private members of Stryker's runner. They pass values to the worker of the next run. */
type VitestRunner = Required<TestRunner> & {
  readonly ctx: { provide(key: string, value: unknown): void };
};

const [{ factory }] = vitestPlugins as unknown as readonly [{ readonly factory: Create }];

function create(injector: Injector<PluginContext>): TestRunner {
  const runner = injector.injectFunction(factory as never) as VitestRunner;
  let known: ReturnType<typeof byMutant> | undefined;
  return {
    capabilities: () => runner.capabilities(),
    init: () => runner.init(),
    dispose: () => runner.dispose(),
    async dryRun(options) {
      runner.ctx.provide('everyMutant', false);
      const result = await runner.dryRun(options);
      if (result.status !== DryRunStatus.Complete) return result;
      runner.ctx.provide('everyMutant', true);
      await runner.dryRun(options);
      runner.ctx.provide('everyMutant', false);
      return result;
    },
    async mutantRun(options) {
      known ??= byMutant(findings());
      return answer(options, known) ?? runner.mutantRun(options);
    },
  };
}
create.inject = tokens(commonTokens.injector);

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'every-mutant', create as never),
];

/** Returns the result for this mutant, or null if it needs a separate run. */
function answer(
  { activeMutant, testFilter }: MutantRunOptions,
  { killed, withstood }: ReturnType<typeof byMutant>,
): MutantRunResult | null {
  const killer = killed.get(activeMutant.id);
  if (killer !== undefined) {
    return {
      status: MutantRunStatus.Killed,
      killedBy: [here(killer.by)],
      failureMessage: killer.why,
      nrOfTests: 1,
    };
  }
  const tried = withstood.get(activeMutant.id) ?? new Set();
  const isDecided = testFilter?.every((test) => tried.has(test)) === true;
  if (!isDecided && process.env['MUTATION_ONE_BY_ONE'] === '1') return null;
  return { status: MutantRunStatus.Survived, nrOfTests: tried.size };
}

function byMutant(all: readonly Finding[]) {
  const killed = new Map(
    all.flatMap((each) => ('killed' in each ? [[each.killed, each] as const] : [])),
  );
  const withstood = new Map<string, Set<string>>();
  for (const each of all) {
    if (!('withstood' in each)) continue;
    for (const mutant of each.withstood) {
      const tests = withstood.get(mutant) ?? new Set();
      withstood.set(mutant, tests.add(here(each.test)));
    }
  }
  return { killed, withstood };
}

/** Returns the path of a test from the root of Stryker's copy, as Stryker names it. */
function here(test: string): string {
  return test.replace(`${process.cwd()}/`, '');
}
