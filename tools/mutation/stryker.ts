// Runs Stryker on a copy of this repository below .stryker-tmp. Decision 63 explains why it uses
// its own runner.
import { Stryker } from '@stryker-mutator/core';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { hashOf, type Fate, type Mutant, type Report } from './report.ts';

const root = path.join(import.meta.dirname, '..', '..');

export interface Round {
  /** Files, patterns, or parts of files in the format of `rangeOf`. */
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /**
   * The maximum computing time for one mutant, in milliseconds. Beyond it, the mutant is a
   * survivor.
   */
  readonly budget: number;
  /**
   * Whether to run a mutant separately if no test killed it and some test could not run with it.
   */
  readonly oneByOne: boolean;
}

/**
 * The part of Stryker's output that this file reads. It follows the schema of mutation testing
 * reports.
 */
interface Written {
  readonly files: Readonly<Record<string, { readonly mutants: readonly WrittenMutant[] }>>;
  readonly testFiles: Readonly<
    Record<string, { readonly tests: readonly { readonly id: string }[] }>
  >;
}

interface WrittenMutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly killedBy?: readonly string[];
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Runs the tests against the mutants. The tests must pass without mutants. */
export async function mutate({ mutate: parts, tests, budget, oneByOne }: Round): Promise<Report> {
  const written = path.join(root, 'reports', `mutation-${process.pid}.json`);
  process.env['MUTATION_ROOT'] = root;
  process.env['MUTATION_TESTS'] = tests.join(',');
  process.env['MUTATION_BUDGET'] = String(budget);
  process.env['MUTATION_ONE_BY_ONE'] = oneByOne ? '1' : '';
  await new Stryker({
    mutate: [...parts],
    plugins: [
      '@stryker-mutator/vitest-runner',
      ...['runner', 'words'].map((name) => import.meta.resolve(`./${name}.ts`)),
    ],
    testRunner: 'every-mutant',
    vitest: { configFile: 'tools/mutation/vitest.config.ts', related: false },
    ignorers: ['words'],
    buildCommand: 'node tools/mutation/build.ts',
    // Stryker's type checks need an interface of the compiler that TypeScript 7 no longer has. Type
    // checks are not necessary here, because no configuration names another folder.
    tsconfigFile: 'none.json',
    disableTypeChecks: 'packages/*/src/**/*.ts',
    symlinkNodeModules: false,
    ignorePatterns: [
      '/**',
      '!/packages/**',
      'packages/*/dist',
      '!/tools/scripts/**',
      '!/tools/mutation/*.ts',
      '!/test/**',
      '!/examples/**',
      // Tests read code blocks from the pages.
      '!/docs/**',
      '!/*.json',
      'test/clients',
      'test/bundlers',
    ],
    coverageAnalysis: 'perTest',
    // A mutant that acts before any test would need a separate run of all tests. The report counts
    // such mutants separately.
    ignoreStatic: true,
    concurrency: 1,
    dryRunTimeoutMinutes: 600,
    timeoutMS: 20_000,
    timeoutFactor: 4,
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: path.relative(root, written) },
    tempDirName: `.stryker-tmp/${process.pid}`,
    cleanTempDir: 'always',
    allowConsoleColors: false,
  }).runMutationTest();
  const { files, testFiles } = JSON.parse(readFileSync(written, 'utf8')) as Written;
  const fileOf = new Map(
    Object.entries(testFiles).flatMap(([file, { tests: all }]) =>
      all.map(({ id }) => [id, file] as const),
    ),
  );
  rmSync(written);
  return Object.fromEntries(
    Object.entries(files).map(([file, { mutants }]) => [
      file,
      {
        source: hashOf(file),
        mutants: mutants
          .map((mutant) => read(mutant, fileOf))
          .toSorted((one, other) => byPlace(one) - byPlace(other)),
      },
    ]),
  );
}

function read(
  { mutatorName, replacement, status, statusReason = '', killedBy, location }: WrittenMutant,
  fileOf: ReadonlyMap<string, string>,
): Mutant {
  const { start, end } = location;
  const by = fileOf.get(killedBy?.[0] ?? '');
  const [from, to] = [start, end].map(({ line, column }) => `${line}:${column}`);
  return {
    at: `${from}-${to}`,
    mutator: mutatorName,
    replacement,
    fate: fateOf(status, statusReason),
    ...(by === undefined ? {} : { by }),
  };
}

/**
 * Returns the result for a status of Stryker.
 * @throws {Error} For a status that says nothing about tests.
 */
function fateOf(status: string, reason: string): Fate {
  if (status === 'Killed' || status === 'Timeout') return 'killed';
  if (status === 'Survived' || status === 'NoCoverage') return 'survived';
  if (status === 'Ignored') return reason.startsWith('Static') ? 'static' : 'words';
  throw new Error(`Stryker says ${status} of a mutant: ${reason}`);
}

function byPlace({ at }: Mutant): number {
  const [line = 0, column = 0] = at.split(/[:-]/).map(Number);
  return line * 1000 + column;
}

/** Returns the range in Stryker's format. Lines begin at 1, and columns at 0. */
export function rangeOf(file: string, { at }: Pick<Mutant, 'at'>): string {
  const [line = 1, column = 1, lastLine = 1, lastColumn = 1] = at.split(/[:-]/).map(Number);
  return `${file}:${line}:${column - 1}-${lastLine}:${lastColumn - 1}`;
}
