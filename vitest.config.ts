import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LeftOutReporter } from './test/support/left-out-reporter.ts';
import { LONGEST, RUNS_ALL, RUNS_REST } from './test/support/scale.ts';
import { PROJECT_NAMES, testFiles, type ProjectName } from './test/support/test-files.ts';

const all = testFiles(import.meta.dirname);
const files = all.filter(({ short }) => RUNS_ALL || short);

/**
 * The time limit of a test, in milliseconds. Only a test that hangs reaches it: even on a machine
 * under load, other tests are much faster. It must be far below the time limit of CI.
 */
const patience = LONGEST ? 1_200_000 : RUNS_ALL ? 600_000 : 120_000;

/**
 * The number of workers. There are more workers than processors, because tests wait for servers,
 * other processes and the network. It is a number, because Vitest treats percentages above 100 as
 * 100.
 */
const WORKERS = availableParallelism() * 2;

/** Whether each fetched response has to match the OpenAPI description. */
const COMPARES_ANSWERS = RUNS_ALL || process.env['CI'] !== undefined;

/** Whether the tests of a project share one database server. A cluster is used by only one file. */
const isServer = (name: ProjectName) => name !== 'sqlite' && name !== 'clusters';

/**
 * The files that take minutes. They run first. After them, the files of each project with a long
 * form run before its other files. So no long file begins after all others have ended.
 */
const SLOWEST: readonly string[] = [
  'test/bare-url.test.ts',
  'test/create-portico-generators.test.ts',
  'test/soak.test.ts',
  'test/package-types.test.ts',
];

class LongFormsFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const isOf = ({ moduleId }: TestSpecification, path: string) => moduleId.endsWith(`/${path}`);
    const long = all.filter((each) => each.long).map(({ path }) => path);
    const place = (each: TestSpecification): number => {
      if (SLOWEST.some((path) => isOf(each, path))) return -1;
      return projects.indexOf(each.project) * 2 + (long.some((path) => isOf(each, path)) ? 0 : 1);
    };
    const placed = sorted.toSorted((one, other) => place(one) - place(other));
    return spread(
      placed.filter(({ project }) => project.name === 'clusters'),
      placed.filter(({ project }) => project.name !== 'clusters'),
    );
  }
}

/**
 * Spreads a few items among the others. Tests of clusters wait most of the time, so they run among
 * other files, which use the processors. The last one begins long before the end.
 */
function spread<T>(few: readonly T[], others: readonly T[]): T[] {
  const distance = Math.max(1, Math.floor(others.length / (few.length * 2)));
  const begun = others.flatMap((each, index) => {
    const place = (index + 1) / distance;
    return Number.isInteger(place) ? [each, ...few.slice(place - 1, place)] : [each];
  });
  return [...begun, ...few.slice(Math.floor(others.length / distance))];
}

/** The files of a project. `npm run test:rest` follows `npm test` in CI, and does not repeat it. */
const filesOf = (name: ProjectName) =>
  files
    .filter(({ engines }) => engines.includes(name))
    .filter(({ short, long }) => !(RUNS_REST && name === 'sqlite' && short && !long))
    .map(({ path }) => path);

/** One project for each engine, and one for clusters. `npm test` runs only the project for SQLite. */
export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    reporters: RUNS_ALL
      ? ['default']
      : ['default', new LeftOutReporter(all.filter(({ short }) => !short))],
    sequence: { sequencer: LongFormsFirst },
    projects: PROJECT_NAMES.map((name) => ({
      test: {
        name,
        // A worker imports each module only once for all its files.
        isolate: false,
        server: { deps: { external: [/\/dist\//] } },
        include: filesOf(name),
        setupFiles: COMPARES_ANSWERS ? ['test/support/described-answers.ts'] : [],
        globalSetup: [
          'test/support/run-folder.ts',
          ...(isServer(name) ? [`test/support/engines/${name}.setup.ts`] : []),
        ],
        testTimeout: name === 'clusters' && LONGEST ? 5 * patience : patience,
        hookTimeout: patience,
      },
    })),
  },
});
