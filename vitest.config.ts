import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { STRESS } from './test/support/scale.ts';
import { PROJECT_NAMES, testFiles, type ProjectName } from './test/support/test-files.ts';

/** CI runs every file once: in its long form, where it has one. */
const EVERY_FILE = process.env['EVERY_FILE'] !== undefined;

const all = testFiles(import.meta.dirname);
const files = all.filter(({ short, long }) => EVERY_FILE || (STRESS ? long : short));

/** At full length, for a night. */
const LONGEST = process.env['STRESS'] === 'long';

/** In milliseconds, for what hangs: a machine under load does not come near it. In CI it has to be far below CI's own limit. */
const patience = LONGEST ? 1_200_000 : STRESS ? 600_000 : 120_000;

/** What the tests of a project share one of; a cluster belongs to its file. */
const isServer = (name: ProjectName) => name === 'postgres' || name === 'mariadb';

/** Of each project the files with a long form first, so that none of them begins when everything else has ended. */
class LongFormsFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const isLong = ({ moduleId }: TestSpecification) =>
      all.some(({ path, long }) => long && moduleId.endsWith(`/${path}`));
    const byForm = Object.groupBy(sorted, (each) => (isLong(each) ? 'long' : 'short'));
    const { long = [], short = [] } = byForm;
    return [...long, ...short].toSorted(
      (one, other) => projects.indexOf(one.project) - projects.indexOf(other.project),
    );
  }
}

/** One project for each engine, and one for clusters; a server that is not installed fails the run that asks for it. */
export default defineConfig({
  test: {
    maxWorkers: '150%',
    sequence: { sequencer: LongFormsFirst },
    projects: PROJECT_NAMES.map((name) => ({
      test: {
        name,
        include: files.filter(({ engines }) => engines.includes(name)).map(({ path }) => path),
        globalSetup: isServer(name) ? [`test/support/engines/${name}.setup.ts`] : [],
        testTimeout: name === 'clusters' && LONGEST ? 5 * patience : patience,
        hookTimeout: patience,
      },
    })),
  },
});
