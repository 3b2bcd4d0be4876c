// `npm run coverage [-- test files]` runs tests on SQLite and counts the branches that they take,
// also in the processes that they start. It writes tools/coverage/baseline.json and
// docs/coverage.md. With `--add`, it adds to the last run. With `--page`, it only writes the page
// again.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AREAS } from '../mutation/scope.ts';
import { BASELINE, branchesOf, PAGE, pageOf, readCoverage, type Written } from './coverage.ts';

const root = path.join(import.meta.dirname, '..', '..');
const FOLDER = path.join('reports', 'coverage');
/** The results that count together. */
const RUNS = path.join(root, 'reports', 'coverage-runs');

/**
 * The tests of the packages, the tests of the mutants, and those that start the console. The other
 * tests look at pages, builds and frameworks, and take long.
 */
const TESTS: readonly string[] = [
  ...globSync('packages/*/src/**/*.test.ts', { cwd: root }),
  ...Object.values(AREAS).flatMap(({ tests }) => tests),
  'test/console.test.ts',
  'test/create-portico.test.ts',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { add: { type: 'boolean' }, page: { type: 'boolean' } },
});
if (values.page !== true) {
  if (values.add !== true) rmSync(RUNS, { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--project=sqlite',
      '--coverage.enabled',
      '--coverage.provider=custom',
      '--coverage.customProviderModule=./tools/coverage/provider.ts',
      // The processes that tests start count too.
      '--coverage.autoAttachSubprocess',
      '--coverage.reporter=json',
      `--coverage.reportsDirectory=${FOLDER}`,
      '--coverage.include=packages/*/{src,dist}/**/*.{ts,js}',
      '--coverage.exclude=**/*.{test,fixture,d}.ts',
      '--coverage.reportOnFailure',
      ...(positionals.length > 0 ? positionals : new Set(TESTS)),
    ],
    { cwd: root, stdio: 'inherit' },
  );
  mkdirSync(RUNS, { recursive: true });
  const written = path.join(root, FOLDER, 'coverage-final.json');
  copyFileSync(written, path.join(RUNS, `${Date.now()}.json`));
  const runs = readdirSync(RUNS).map((name) => readFileSync(path.join(RUNS, name), 'utf8'));
  const found = branchesOf(
    runs.map((text) => JSON.parse(text) as Written),
    root,
  );
  const lines = Object.entries(found).map(
    ([file, count]) => `  ${JSON.stringify(file)}: ${JSON.stringify(count)}`,
  );
  writeFileSync(path.join(root, BASELINE), `{\n${lines.join(',\n')}\n}\n`);
  process.exitCode = status ?? 1;
}
writeFileSync(path.join(root, PAGE), await pageOf(readCoverage()));
