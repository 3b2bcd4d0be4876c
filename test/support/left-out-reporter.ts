import type { Reporter, TestModule } from 'vitest/node';
import type { TestFile } from './test-files.ts';

/** Prints one line that says what `npm test` skips. */
export class LeftOutReporter implements Reporter {
  readonly #leftOut: readonly TestFile[];

  constructor(leftOut: readonly TestFile[]) {
    this.#leftOut = leftOut;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.reduce(
      (sum, each) => sum + [...each.children.allTests('skipped')].length,
      0,
    );
    const needs = [...new Set(this.#leftOut.flatMap((file) => file.needs))].toSorted();
    const line =
      `Left out: ${this.#leftOut.length} files and ${tests} tests that take long, use a database server ` +
      `or need one of ${needs.join(', ')}. 'npm run test:all' runs everything.`;
    process.stdout.write(`\n${line}\n`);
  }
}
