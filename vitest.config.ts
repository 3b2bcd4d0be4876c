import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LeftOutReporter } from './test/support/left-out-reporter.ts';
import { LONGEST, RUNS_ALL, RUNS_REST } from './test/support/scale.ts';
import { PROJECT_NAMES, testFiles, type ProjectName } from './test/support/test-files.ts';

const all = testFiles(import.meta.dirname);
const files = all.filter(({ short }) => RUNS_ALL || short);

/** In milliseconds, for what hangs: a machine under load does not come near it. In CI it has to be far below CI's own limit. */
const patience = LONGEST ? 1_200_000 : RUNS_ALL ? 600_000 : 120_000;

/**
 * More than processors: tests wait for servers, other processes and the network. A number, since Vitest takes a percentage above 100 for
 * 100.
 */
const WORKERS = availableParallelism() * 2;

/** Whether each fetched response has to match the OpenAPI description. */
const COMPARES_ANSWERS = RUNS_ALL || process.env['CI'] !== undefined;

/** What the tests of a project share one of; a cluster belongs to its file. */
const isServer = (name: ProjectName) => name !== 'sqlite' && name !== 'clusters';

/**
 * What takes minutes by itself comes before everything else, and of each project the files with a long form before the others: so nothing
 * long begins when everything else has ended.
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
 * Clusters wait for faults most of the time. So each of their files comes among others, which use
 * the processors, and the last one long before the end.
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

/** One project for each engine, and one for clusters. `npm test` is the one for SQLite alone. */
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
        // A worker imports what all files import once.
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
