// `npm run mutation [-- area …] [--all]` runs the mutants of the files that changed, and the
// mutants that survived. With --all, it runs all mutants. With --files, it runs only the files of
// the area that match a pattern. It writes the report and the baseline, and prints the survivors
// without explanation.
import { globSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { baselineOf, miscounted, readBaseline, scoreOf, writeBaseline } from './baseline.ts';
import {
  isCurrent,
  problemsOf,
  readExplanations,
  readReport,
  writeReport,
  type Mutant,
  type MutatedFile,
  type Report,
} from './report.ts';
import { AREAS, filesOf, type Area } from './scope.ts';
import { mutate, rangeOf } from './stryker.ts';

/**
 * The budget of a mutant: computing time in milliseconds. It is enough for each test of an area
 * that can reach the mutant.
 */
const BUDGET = 20_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean' },
    budget: { type: 'string' },
    files: { type: 'string' },
    tests: { type: 'string' },
    'one-by-one': { type: 'boolean' },
  },
});
const root = path.join(import.meta.dirname, '..', '..');
for (const name of positionals.length > 0 ? positionals : Object.keys(AREAS)) {
  const area = AREAS[name];
  if (area === undefined)
    throw new Error(`There is no area ${name}: ${Object.keys(AREAS).join(', ')}`);
  await run(name, area);
}
const explanations = readExplanations();
const baseline = readBaseline();
const problems = [...problemsOf(readReport(), explanations), ...miscounted(baseline, explanations)];
for (const problem of problems) say(problem);
const { killed, all, score } = scoreOf(baseline);
say(`${killed} of ${all} mutants are killed: ${score} %; ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function run(name: string, { tests }: Area): Promise<void> {
  const before = readReport();
  const known = readBaseline();
  const files = filesOf(name);
  const asked = files.filter((file) => path.matchesGlob(file, values.files ?? '**'));
  const parts = asked.flatMap((file) => {
    if (values.all === true || !isCurrent(known, file)) return [file];
    // A report from another machine contains only numbers, so it names no survivors to run again.
    if (!isCurrent(before, file)) return [];
    const alive = (before[file]?.mutants ?? []).filter(({ fate }) => fate === 'survived');
    return alive.map((mutant) => rangeOf(file, mutant));
  });
  if (parts.length === 0) return say(`${name}: nothing is left to do`);
  const found = await mutate({
    mutate: [...new Set(parts)],
    tests: values.tests?.split(',') ?? tests,
    budget: Number(values.budget ?? BUDGET),
    oneByOne: values['one-by-one'] === true,
  });
  const all = merged(readReport(), found);
  const report = Object.fromEntries(Object.entries(all).filter(([file]) => files.includes(file)));
  writeReport(name, report);
  const others = Object.entries(known).filter(([file]) => globSync(file, { cwd: root }).length > 0);
  writeBaseline({ ...Object.fromEntries(others), ...baselineOf(report) });
}

/**
 * Merges the reports. New results replace old results for the same source. Drops old results for
 * another source.
 */
function merged(before: Report, found: Report): Report {
  const files = Object.entries(found).map(([file, now]): [string, MutatedFile] => {
    const known = before[file];
    if (known === undefined || known.source !== now.source) return [file, now];
    const key = (mutant: Mutant) => JSON.stringify([mutant.at, mutant.mutator, mutant.replacement]);
    const again = new Map(now.mutants.map((mutant) => [key(mutant), mutant]));
    // Keep a kill even if a round with fewer tests did not repeat it. A test in another round did
    // fail.
    const latest = (mutant: Mutant) =>
      mutant.fate === 'killed' && values.all !== true ? mutant : (again.get(key(mutant)) ?? mutant);
    return [file, { source: now.source, mutants: known.mutants.map(latest) }];
  });
  return { ...before, ...Object.fromEntries(files) };
}
