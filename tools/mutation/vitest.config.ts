import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const TESTS = (process.env['MUTATION_TESTS'] ?? '').split(',');

/**
 * Runs the test files in the order of the list. Short tests come first, so that fewer mutants
 * remain for the long ones.
 */
class AsListed extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      TESTS.findIndex((path) => moduleId.endsWith(`/${path}`));
    return specifications.toSorted((one, other) => place(one) - place(other));
  }
}

/**
 * The tests that run the server in their own process, on SQLite. They import the mutated `dist` of
 * Stryker's copy.
 */
export default defineConfig({
  test: {
    include: [...TESTS],
    // A mutant can end a test before it removes its folders.
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['tools/mutation/load-features.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Errors that a mutant causes outside of a test do not fail the run.
    onUnhandledError: () => false,
    runner: './tools/mutation/every-mutant.ts',
    sequence: { sequencer: AsListed },
    server: { deps: { external: [/\/dist\//] } },
  },
});
