import { defineConfig } from 'vitest/config';
import { STRESS } from './test/support/scale.ts';
import { PROJECT_NAMES, testFiles, type ProjectName } from './test/support/test-files.ts';

const files = testFiles(import.meta.dirname).filter(({ short, long }) => (STRESS ? long : short));

/** In milliseconds, for what hangs: a machine under load does not come near it. */
const patience = STRESS ? 1_200_000 : 120_000;

/** What the tests of a project share one of; a cluster belongs to its file. */
const isServer = (name: ProjectName) => name === 'postgres' || name === 'mariadb';

/** One project for each engine, and one for clusters; a server that is not installed fails the run that asks for it. */
export default defineConfig({
  test: {
    maxWorkers: '150%',
    projects: PROJECT_NAMES.map((name) => ({
      test: {
        name,
        include: files.filter(({ engines }) => engines.includes(name)).map(({ path }) => path),
        globalSetup: isServer(name) ? [`test/support/engines/${name}.setup.ts`] : [],
        testTimeout: name === 'clusters' ? 5 * patience : patience,
        hookTimeout: patience,
      },
    })),
  },
});
