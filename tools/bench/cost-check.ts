// `npm run bench:cost [-- --commit name] [--base name] [--check] [--accept reason] [--works part]`
//
// Counts the instructions of the server for a request, in this checkout and at an earlier commit.
// Fails if a work costs 3 % more. The earlier commit is the last ancestor in cost-history.jsonl.
// Without --check, it appends a line to the history. With --accept, it also appends a line if a
// work costs more. With --commit, it measures this commit instead of the checkout.
//
// Valgrind counts the instructions, because other programs on the machine do not change their
// number. Processor time of the same code differs by more than 3 % from run to run. V8's
// optimizing compiler is off, because its choices depend on the time. System calls are not counted.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { linkDependencies, ROOT } from '../scripts/packages.ts';
import { HISTORY, recordedCosts, type Cost, type Recorded } from './cost-history.ts';
import { Counted } from './counted.ts';
import { figure, print, printRows } from './print.ts';
import { circumstances } from './results.ts';

const { values: options } = parseArgs({
  options: {
    commit: { type: 'string' },
    base: { type: 'string' },
    check: { type: 'boolean', default: false },
    accept: { type: 'string' },
    works: { type: 'string', default: '' },
  },
});
/** How much more a request may cost than at the earlier commit. */
const ALLOWED = 0.03;
const MEASURED = [
  'client-credentials token',
  'introspection',
  'refresh, no ID token',
  'whole authorization',
  'UserInfo',
  'protected endpoint',
].filter((name) => name.includes(options.works));
if (MEASURED.length === 0) throw new Error(`No work is called ${options.works}`);
/** The files that decide what a request costs. */
const SOURCES = ['packages', 'package-lock.json', 'tools/bench/targets'];

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const commit = options.commit === undefined ? null : commitOf(options.commit);
/** The commit that the line is for. */
const measured = commit ?? 'HEAD';
const base = options.base === undefined ? lastRecorded() : commitOf(options.base);
const records = !options.check && options.works === '';
if (options.base === undefined && isSame()) {
  print(`Nothing that a request runs differs from ${base}.`);
} else {
  await compare();
}

/** Returns the short hash. Fails if the commit is not in this clone. */
function commitOf(name: string): string {
  try {
    return git('rev-parse', '--short=12', '--verify', `${name}^{commit}`).trim();
  } catch {
    throw new Error(
      `The commit ${name} is not in this clone. Fetch the whole history (git fetch --unshallow), or name another commit`,
    );
  }
}

/** Returns the last commit in the history that is an ancestor of the measured commit. */
function lastRecorded(): string {
  const recorded = recordedCosts().findLast(
    (each) =>
      spawnSync('git', ['merge-base', '--is-ancestor', each.commit, measured], {
        cwd: ROOT,
      }).status === 0,
  );
  if (recorded !== undefined) return recorded.commit;
  throw new Error(
    'This clone has no commit of cost-history.jsonl before this one, so there is nothing to compare with. Fetch the whole history (git fetch --unshallow), or name a commit with --base',
  );
}

function isSame(): boolean {
  const between = commit === null ? [base] : [base, commit];
  const args = ['diff', '--quiet', ...between, '--', ...SOURCES];
  return spawnSync('git', args, { cwd: ROOT }).status === 0;
}

function isDear(cost: Cost | undefined): boolean {
  return (cost?.ratio ?? 0) > 1 + ALLOWED;
}

async function compare(): Promise<void> {
  if (records && commit === null && circumstances().commit?.endsWith('+') !== false)
    throw new Error('There are changes that are not committed. Commit them before you record');
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-cost-'));
  try {
    const before = buildAt(base, path.join(folder, 'base'));
    const now = commit === null ? ROOT : buildAt(commit, path.join(folder, 'commit'));
    process.env['NODE_COMPILE_CACHE'] = path.join(folder, 'compiled');
    const works = await costs([before, now], folder);
    printRows(
      ['work', `instructions at ${base}`, `at ${commit ?? 'this checkout'}`, 'against the base'],
      Object.entries(works).map(([work, cost]) => [
        work,
        figure(cost.base),
        figure(cost.commit),
        percentOf(cost),
      ]),
    );
    finish(works);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function percentOf({ ratio }: Cost): string {
  return `${(ratio * 100).toFixed(2)} %`;
}

/** Reports requests that cost more, and appends a line to the history. */
function finish(works: Recorded['works']): void {
  const dear = Object.entries(works).filter(([, cost]) => isDear(cost));
  for (const [work, cost] of dear)
    print(`${work} costs ${percentOf(cost)} of ${base}. At most ${(1 + ALLOWED) * 100} % pass.`);
  if (dear.length > 0 && options.accept === undefined) {
    print("Make it cheaper, or record why it costs more: npm run bench:cost -- --accept 'reason'");
    process.exitCode = 1;
    return;
  }
  if (!records) return;
  const accepted = Object.fromEntries(dear.map(([work]) => [work, options.accept ?? '']));
  const line = {
    ...circumstances(),
    commit: commitOf(measured),
    date: git('log', '-1', '--format=%cs', measured).trim(),
    base,
    works,
    ...(dear.length === 0 ? {} : { accepted }),
  };
  appendFileSync(HISTORY, `${JSON.stringify(line)}\n`);
  print('A line was added to cost-history.jsonl. Run npm run figures, and commit both.');
}

/** Builds the commit in a new folder, with the dependencies of this checkout. */
function buildAt(name: string, folder: string): string {
  mkdirSync(folder);
  git('archive', `--output=${folder}.tar`, name);
  execFileSync('tar', ['-xf', `${folder}.tar`, '-C', folder]);
  linkDependencies(folder);
  const { status, stderr } = spawnSync(process.execPath, ['tools/scripts/build.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} could not be built: ${stderr}`);
  return folder;
}

/** Counts both at the same time. The number of instructions does not depend on other programs. */
async function costs(
  checkouts: readonly [string, string],
  folder: string,
): Promise<Recorded['works']> {
  const both = await Promise.all(checkouts.map((each) => Counted.start(each, folder)));
  try {
    const first = await turn(both, MEASURED);
    const dear = MEASURED.filter((work) => isDear(first[work]));
    // Count these again before the step fails, because a timer may have run at the same time.
    return dear.length === 0 ? first : { ...first, ...(await turn(both, dear)) };
  } finally {
    for (const each of both) await each.stop();
  }
}

async function turn(
  both: readonly Counted[],
  names: readonly string[],
): Promise<Recorded['works']> {
  const [old, now] = await Promise.all(both.map((each) => each.costs(names)));
  return Object.fromEntries(
    names.map((work) => {
      const [before, after] = [old?.get(work), now?.get(work)];
      if (before === undefined || after === undefined) throw new Error(`${work} was not counted`);
      return [work, { base: before, commit: after, ratio: Number((after / before).toFixed(4)) }];
    }),
  );
}
