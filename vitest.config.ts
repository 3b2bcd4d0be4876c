import { defineConfig } from 'vitest/config';
import { STRESS } from './test/support/scale.ts';
import { ENGINE_NAMES, testFiles } from './test/support/test-files.ts';

const files = testFiles(import.meta.dirname).filter(({ short, long }) => (STRESS ? long : short));

/** In milliseconds, for what hangs: a machine under load does not come near it. */
const patience = STRESS ? 1_200_000 : 120_000;

/** One project for each engine; a server that is not installed fails the run that asks for it. */
export default defineConfig({
  test: {
    maxWorkers: '150%',
    projects: ENGINE_NAMES.map((name) => ({
      test: {
        name,
        include: files.filter(({ engines }) => engines.includes(name)).map(({ path }) => path),
        globalSetup: name === 'sqlite' ? [] : [`test/support/engines/${name}.setup.ts`],
        testTimeout: patience,
        hookTimeout: patience,
      },
    })),
  },
});
