// `npm run bench:cost [-- --base commit] [--check] [--accept reason] [--works part]`
//
// Counts the instructions of the server for a request, at this commit and at an earlier one: the
// last commit in cost-history.jsonl. Fails if a work costs 3 % more. Without --check, it appends a
// line to the history. With --accept, it also appends a line if a work costs more.
//
// Valgrind counts the instructions, because other programs on the machine do not change their
// number. Processor time of the same code differs by more than 3 % from run to run. V8's
// optimizing compiler is off, because its choices depend on the time. System calls are not counted.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { HISTORY, recordedCosts, type Cost, type Recorded } from './cost-history.ts';
import { Counted } from './counted.ts';
import { figure, print, printRows } from './print.ts';
import { circumstances } from './results.ts';

const { values: options } = parseArgs({
  options: {
    base: { type: 'string' },
    check: { type: 'boolean', default: false },
    accept: { type: 'string' },
    works: { type: 'string', default: '' },
  },
});
const ROOT = path.join(import.meta.dirname, '..', '..');
/** How much more a work may cost than at the base. */
const ALLOWED = 0.03;
const MEASURED = [
  'client-credentials token',
  'introspection',
  'refresh, no ID token',
  'whole authorization',
  'UserInfo',
  'protected endpoint',
].filter((name) => name.includes(options.works));
/** What a request's cost depends on. */
const SOURCES = ['packages', 'package-lock.json', 'tools/bench/targets'];

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const base = commitOf(options.base ?? recordedCosts().at(-1)?.commit ?? 'HEAD~1');
if (spawnSync('git', ['diff', '--quiet', base, '--', ...SOURCES], { cwd: ROOT }).status === 0) {
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
      `The commit ${name} is not in this clone, so its cost cannot be compared. Fetch the whole history (git fetch --unshallow), or name another commit with --base.`,
    );
  }
}

function isDear(cost: Cost | undefined): boolean {
  return (cost?.ratio ?? 0) > 1 + ALLOWED;
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-cost-'));
  try {
    const before = buildAt(base, folder);
    process.env['NODE_COMPILE_CACHE'] = path.join(folder, 'compiled');
    const works = await costs(before, folder);
    const dear = Object.entries(works).filter(([, cost]) => isDear(cost));
    printRows(
      ['work', `instructions at ${base}`, 'now', 'now against it'],
      Object.entries(works).map(([work, cost]) => [
        work,
        figure(cost.base),
        figure(cost.commit),
        `${(cost.ratio * 100).toFixed(2)} %`,
      ]),
    );
    finish(
      works,
      dear.map(([work]) => work),
    );
  } finally {
    spawnSync('git', ['worktree', 'remove', '--force', path.join(folder, 'base')], { cwd: ROOT });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reports works that cost more, and appends a line to the history. */
function finish(works: Recorded['works'], dear: readonly string[]): void {
  for (const work of dear) print(`${work}: more than ${ALLOWED * 100} % above ${base}.`);
  if (dear.length > 0 && options.accept === undefined) {
    print("Make it cheaper, or record why it costs more: npm run bench:cost -- --accept 'reason'");
    process.exitCode = 1;
    return;
  }
  if (options.check || options.works !== '') return;
  const now = circumstances();
  if (now.commit === null || now.commit.endsWith('+'))
    throw new Error('There are changes that are not committed. Commit them before you record');
  const accepted = Object.fromEntries(dear.map((work) => [work, options.accept ?? '']));
  const line = { ...now, base, works, ...(dear.length === 0 ? {} : { accepted }) };
  appendFileSync(HISTORY, `${JSON.stringify(line)}\n`);
}

/** Builds the commit in a folder, with the dependencies of this checkout. */
function buildAt(commit: string, folder: string): string {
  const at = path.join(folder, 'base');
  git('worktree', 'add', '--detach', at, commit);
  const [from, to] = [ROOT, at].map((each) => path.join(each, 'node_modules'));
  mkdirSync(to ?? '');
  const own = new Set(['@portico', 'create-portico', 'portico', '.package-lock.json']);
  for (const name of readdirSync(from ?? '').filter((each) => !own.has(each)))
    symlinkSync(path.join(from ?? '', name), path.join(to ?? '', name));
  const { status, stderr } = spawnSync(process.execPath, ['tools/scripts/build.ts'], {
    cwd: at,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${commit} could not be built: ${stderr}`);
  return at;
}

/** Counts both at the same time. Their number of instructions does not depend on that. */
async function costs(before: string, folder: string): Promise<Readonly<Record<string, Cost>>> {
  const both = await Promise.all([Counted.start(before, folder), Counted.start(ROOT, folder)]);
  try {
    const first = await turn(both, MEASURED);
    const dear = Object.keys(first).filter((work) => isDear(first[work]));
    // Count these works again before the step fails, because a timer may have run beside them.
    return dear.length === 0 ? first : { ...first, ...(await turn(both, dear)) };
  } finally {
    for (const each of both) await each.stop();
  }
}

async function turn(
  both: readonly Counted[],
  names: readonly string[],
): Promise<Readonly<Record<string, Cost>>> {
  const [old, now] = await Promise.all(both.map((each) => each.costs(names)));
  return Object.fromEntries(
    names.map((work) => {
      const cost = { base: old?.get(work) ?? Number.NaN, commit: now?.get(work) ?? Number.NaN };
      return [work, { ...cost, ratio: Number((cost.commit / cost.base).toFixed(4)) }];
    }),
  );
}
