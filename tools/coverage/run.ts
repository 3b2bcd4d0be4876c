// `npm run coverage` runs the groups of tests in groups.ts one after the other and counts the
// branches that they take, also in the processes that they start. It writes
// tools/coverage/baseline.json and docs/coverage.md. With `--add`, it adds to the last result. With
// `--group <name>`, which can be repeated, it runs only that group. With test files, it runs only
// those, on the engine of `--project` (by default sqlite). With `--page`, it only writes the page
// again.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BASELINE, branchesOf, PAGE, pageOf, readCoverage, type Written } from './coverage.ts';
import { groups, type Group } from './groups.ts';

const root = path.join(import.meta.dirname, '..', '..');
/** The results to add up. */
const RUNS = path.join(root, 'reports', 'coverage-runs');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    add: { type: 'boolean' },
    group: { type: 'string', multiple: true },
    page: { type: 'boolean' },
    project: { type: 'string', default: 'sqlite' },
  },
});

if (values.page !== true) {
  if (values.add !== true) rmSync(RUNS, { recursive: true, force: true });
  mkdirSync(RUNS, { recursive: true });
  const all = groups(root);
  const chosen =
    positionals.length > 0
      ? [{ name: 'files', project: values.project, long: false, files: positionals }]
      : all.filter(({ name }) => values.group === undefined || values.group.includes(name));
  if (chosen.length < (values.group ?? []).length) {
    throw new Error(`The groups are ${all.map(({ name }) => name).join(', ')}.`);
  }
  const passed = chosen.map((group) => measure(group));
  writeBaseline();
  process.exitCode = passed.every(Boolean) ? 0 : 1;
}
writeFileSync(path.join(root, PAGE), await pageOf(readCoverage()));

/** Runs the tests of a group, and keeps the result under its name. */
function measure({ name, project, long, files }: Group): boolean {
  const started = Date.now();
  const kept = name === 'files' ? `files-${started}` : name;
  const folder = path.join('reports', `coverage-${kept}`);
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      `--project=${project}`,
      '--coverage.enabled',
      '--coverage.provider=custom',
      '--coverage.customProviderModule=./tools/coverage/provider.ts',
      // Also count the branches in processes that tests start.
      '--coverage.autoAttachSubprocess',
      '--coverage.reporter=json',
      `--coverage.reportsDirectory=${folder}`,
      '--coverage.include=packages/*/{src,dist}/**/*.{ts,js}',
      '--coverage.exclude=**/*.{test,fixture,d}.ts',
      '--coverage.reportOnFailure',
      ...files,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...(long ? { TESTS: 'all' } : {}) },
    },
  );
  copyFileSync(path.join(root, folder, 'coverage-final.json'), path.join(RUNS, `${kept}.json`));
  process.stdout.write(`${name}: ${Math.round((Date.now() - started) / 1000)} seconds\n`);
  return status === 0;
}

function writeBaseline(): void {
  const runs = readdirSync(RUNS).map((name) => readFileSync(path.join(RUNS, name), 'utf8'));
  const found = branchesOf(
    runs.map((text) => JSON.parse(text) as Written),
    root,
  );
  const lines = Object.entries(found).map(
    ([file, count]) => `  ${JSON.stringify(file)}: ${JSON.stringify(count)}`,
  );
  writeFileSync(path.join(root, BASELINE), `{\n${lines.join(',\n')}\n}\n`);
}
