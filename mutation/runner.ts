// Stryker's runner of Vitest, but for the order: not each mutant in a run of its own, which starts a server every time, but every mutant in
// one run of the tests.
import type { MutantRunOptions, MutantRunResult, TestRunner } from '@stryker-mutator/api/test-runner';
import { declareFactoryPlugin, PluginKind, commonTokens, tokens, type Injector, type PluginContext } from '@stryker-mutator/api/plugin';
import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner';
import { existsSync, readFileSync } from 'node:fs';
import type { Finding } from './every-mutant.ts';

function create(injector: Injector<PluginContext>): TestRunner {
  const [plugin] = vitestPlugins as unknown as [{ factory: (injector: Injector<PluginContext>) => TestRunner }];
  const runner = injector.injectFunction(plugin.factory as never) as TestRunner & { ctx: { provide(key: string, value: unknown): void } };
  let results: Map<string, Finding & { killed: string }> | undefined;
  const withstood = new Map<string, Set<string>>();
  function read() {
    if (results !== undefined) return results;
    results = new Map();
    if (!existsSync((process.env['FINDINGS'] ?? 'mutation-findings.jsonl'))) return results;
    for (const line of readFileSync((process.env['FINDINGS'] ?? 'mutation-findings.jsonl'), 'utf8').split('\n')) {
      if (line === '') continue;
      const finding = JSON.parse(line) as Finding;
      if ('killed' in finding) results.set(finding.killed, finding);
      if ('withstood' in finding) {
        for (const mutant of finding.withstood) {
          if (!withstood.has(mutant)) withstood.set(mutant, new Set());
          withstood.get(mutant)?.add(normal(finding.test));
        }
      }
    }
    return results;
  }
  const normal = (test: string) => test.replace(`${process.cwd()}/`, '');
  return {
    capabilities: () => runner.capabilities(),
    init: () => runner.init?.() ?? Promise.resolve(),
    dispose: () => runner.dispose?.() ?? Promise.resolve(),
    async dryRun(options) {
      runner.ctx.provide('everyMutant', false);
      const result = await runner.dryRun(options);
      if (result.status !== 'complete') return result;
      runner.ctx.provide('everyMutant', true);
      await runner.dryRun({ ...options, timeout: 24 * 3_600_000 });
      runner.ctx.provide('everyMutant', false);
      return result;
    },
    async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
      const { id } = options.activeMutant;
      const killed = read().get(id);
      if (killed !== undefined && 'by' in killed) {
        return { status: 'killed', killedBy: [normal(killed.by)], failureMessage: killed.why, nrOfTests: 1 } as MutantRunResult;
      }
      const tried = withstood.get(id) ?? new Set();
      const left = (options.testFilter ?? []).filter((test) => !tried.has(test));
      if (options.testFilter !== undefined && (left.length === 0 || process.env['NO_REAL'] !== undefined)) return { status: 'survived', nrOfTests: tried.size } as MutantRunResult;
      return runner.mutantRun({ ...options, ...(options.testFilter === undefined ? {} : { testFilter: left }) });
    },
  };
}
create.inject = tokens(commonTokens.injector);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'every-mutant', create as never)];
