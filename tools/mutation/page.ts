// `npm run mutation:page` writes docs/mutation.md from baseline.json, `explained` and scope.ts.
// test/mutation-report.test.ts compares the page with what this writes.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as prettier from 'prettier';
import { openIn, readBaseline, scoreOf, type Baseline } from './baseline.ts';
import { NOT_COUNTED } from './not-counted.ts';
import { isCurrent, readExplanations, type Explanation } from './report.ts';
import { AREAS, filesOf } from './scope.ts';
import { packageOf, sharesOf, type Shares } from './shares.ts';

const root = path.join(import.meta.dirname, '..', '..');
const PAGE = path.join(root, 'docs', 'mutation.md');

const INTRODUCTION = `# Mutation testing

\`npm run mutation\` changes the code in one place, for example \`<\` to \`<=\`, and runs the tests. Each such change is a mutant. If a test fails because of it, the mutant is killed. \`npm run mutation:page\` writes this page from the last run. [What the runs found](assurance.md#mutation-testing)`;

const COLUMNS = `The columns:

- **Code**: the share of the package's lines that were mutated. Empty lines and comments do not count.
- **Explained**: mutants that no test kills, with a reason in [tools/mutation/explained](../tools/mutation/explained).
- **Open**: mutants that no test kills, and that have no reason yet. Each one is a missing test or a missing reason.
- **Score**: the killed mutants, as a percentage of the killed, explained and open mutants.
- **Apart**: mutants that no test can check. They are in texts for people, or run before the first test.

A file keeps the result of its last run until it is mutated again.`;

/**
 * Returns the page. The caller passes the shares and the number of files that are unchanged since
 * their last run, because both differ with each commit.
 */
export async function pageOf(
  baseline: Baseline,
  explanations: readonly Explanation[],
  shares: Shares,
  unchanged: number,
): Promise<string> {
  const files = (keep: (file: string) => boolean) =>
    Object.fromEntries(Object.entries(baseline).filter(([file]) => keep(file)));
  const packages = Object.keys(shares).filter((name) => name !== 'all');
  const rows = packages.map((name) => [
    name,
    `${shares[name] ?? 0} %`,
    ...numbers(
      files((file) => packageOf(file) === name),
      explanations,
    ),
  ]);
  const all = ['**all**', `${shares['all'] ?? 0} %`, ...numbers(baseline, explanations)];
  const areas = Object.keys(AREAS).map((name): readonly string[] => {
    const own = new Set(filesOf(name));
    return [
      `\`${name}\``,
      ...numbers(
        files((file) => own.has(file)),
        explanations,
      ),
    ];
  });
  const run = areas.filter(([, count]) => count !== '0');
  const left = areas.filter(([, count]) => count === '0').map(([name]) => name);
  const text = [
    INTRODUCTION,
    '## By package',
    table(['Package', 'Code', ...HEADERS], [...rows, all]),
    COLUMNS,
    `When this page was written, ${unchanged} of ${Object.keys(baseline).length} files were the same as in their last run. The others have changed since.`,
    '## By area',
    'The files and tests of each area are in [tools/mutation/scope.ts](../tools/mutation/scope.ts).',
    table(['Area', ...HEADERS], run),
    '## Not counted',
    left.length === 0
      ? 'Every area was run.'
      : `These areas have files and tests, but were not run yet: ${left.join(', ')}.`,
    'These files are in no area:',
    table(
      ['Files', 'Reason'],
      Object.entries(NOT_COUNTED).map(([pattern, why]) => [`\`${pattern}\``, why]),
    ),
    '## Next',
    '[Assurance](assurance.md) lists the other checks. [Coverage](coverage.md) has the branches that the tests run.',
  ].join('\n\n');
  return prettier.format(text, {
    ...(await prettier.resolveConfig(PAGE)),
    parser: 'markdown',
  });
}

const HEADERS = ['Files', 'Mutants', 'Killed', 'Explained', 'Open', 'Score', 'Apart'];

function numbers(baseline: Baseline, explanations: readonly Explanation[]): readonly string[] {
  const { killed, all, score } = scoreOf(baseline);
  const open = openIn(baseline, explanations);
  const counts = Object.values(baseline);
  const apart = counts.reduce((sum, count) => sum + count.static + count.words, 0);
  const shown = [counts.length, all, killed, all - killed - open, open];
  return [...shown.map(String), all === 0 ? '–' : `${score} %`, String(apart)];
}

function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = headers.map((_, place) => (place === 0 || headers.length === 2 ? '---' : '---:'));
  return [headers, rule, ...rows].map(line).join('\n');
}

/** Returns the shares in a page. */
export function statedShares(page: string): Shares {
  const rows = page.matchAll(/^\| (?:\*\*)?([\w-]+)(?:\*\*)? +\| +(\d+) % \|/gm);
  return Object.fromEntries([...rows].map(([, name = '', share]) => [name, Number(share)]));
}

/** Returns the number of unchanged files in a page. */
export function statedUnchanged(page: string): number {
  return Number(/written, (\d+) of \d+ files/.exec(page)?.[1]);
}

export function readPage(): string {
  return readFileSync(PAGE, 'utf8');
}

if (import.meta.main) {
  const baseline = readBaseline();
  const unchanged = Object.keys(baseline).filter((file) => isCurrent(baseline, file)).length;
  const page = await pageOf(baseline, readExplanations(), sharesOf(baseline), unchanged);
  writeFileSync(PAGE, page);
}
