// The branches that the tests take, by file, and the page docs/coverage.md.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as prettier from 'prettier';
import { reasonFor } from './explained.ts';

const root = path.join(import.meta.dirname, '..', '..');
export const BASELINE = path.join('tools', 'coverage', 'baseline.json');
export const PAGE = path.join('docs', 'coverage.md');

/** The share of its branches that the tests of a file must take, in percent. */
export const LEAST = 95;

export interface Count {
  readonly branches: number;
  readonly covered: number;
}

/** The counts by file. */
export type Coverage = Readonly<Record<string, Count>>;

/** The part of Istanbul's coverage-final.json that this script reads. */
export type Written = Readonly<
  Record<
    string,
    {
      readonly b: Readonly<Record<string, readonly number[]>>;
      readonly branchMap: Readonly<
        Record<
          string,
          {
            readonly type: string;
            readonly loc: { readonly start: Readonly<Record<string, number>> };
          }
        >
      >;
    }
  >
>;

export function readCoverage(): Coverage {
  return JSON.parse(readFileSync(path.join(root, BASELINE), 'utf8')) as Coverage;
}

/** A branch in one or several results. */
interface Branch {
  /** How often the tests took each way. */
  readonly ways: readonly number[];
  /** The number of results that list the branch and ran its file. */
  readonly listed: number;
}

/**
 * Returns the counts of the sources in one or several results. A file can be loaded both directly
 * and in a bundle. A branch is taken if the tests took it in either of them.
 *
 * The bundler moves some branches to another position. So a branch that no test took counts only if
 * each result that ran the file lists it. Otherwise, it would count twice.
 */
export function branchesOf(results: readonly Written[], from: string): Coverage {
  const files = new Map<string, { branches: Map<string, Branch>; ran: number }>();
  for (const [name, written] of results.flatMap((each) => Object.entries(each))) {
    const file = path.relative(from, name);
    if (!/^packages\/[^/]+\/src\//.test(file)) continue;
    const { branches, ran } = files.get(file) ?? { branches: new Map<string, Branch>(), ran: 0 };
    const here = Object.values(written.b)
      .flat()
      .some((hits) => hits > 0)
      ? 1
      : 0;
    for (const [key, ways] of waysIn(written)) {
      const before = branches.get(key) ?? { ways: [], listed: 0 };
      branches.set(key, { ways: most(before.ways, ways), listed: before.listed + here });
    }
    files.set(file, { branches, ran: ran + here });
  }
  const counts = [...files].map(([file, { branches, ran }]): [string, Count] => {
    const counted = [...branches.values()].filter(
      ({ ways, listed }) => listed === ran || ways.some((hits) => hits > 0),
    );
    const all = counted.flatMap(({ ways }) => ways);
    return [file, { branches: all.length, covered: all.filter((hits) => hits > 0).length }];
  });
  return Object.fromEntries(counts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns how often each way of each branch was taken, by the branch's type and position. */
function waysIn({ b, branchMap }: Written[string]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  for (const [id, { type, loc }] of Object.entries(branchMap)) {
    const key = JSON.stringify([type, loc.start['line'], loc.start['column']]);
    found.set(key, most(found.get(key) ?? [], b[id] ?? []));
  }
  return found;
}

function most(one: readonly number[], other: readonly number[]): readonly number[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, way) =>
    Math.max(one[way] ?? 0, other[way] ?? 0),
  );
}

/** Returns the files that are under the limit. */
export function filesBelow(coverage: Coverage): readonly string[] {
  return Object.keys(coverage).filter((file) => {
    const { branches, covered } = coverage[file] as Count;
    return 100 * covered < LEAST * branches;
  });
}

export function sumOf(counts: readonly Count[]): Count & { readonly percent: number } {
  const branches = counts.reduce((sum, each) => sum + each.branches, 0);
  const covered = counts.reduce((sum, each) => sum + each.covered, 0);
  const percent = branches === 0 ? 100 : Math.floor((10_000 * covered) / branches) / 100;
  return { branches, covered, percent };
}

const INTRODUCTION = `# Coverage

\`npm run coverage\` counts the branches that the tests take: both ways of a condition, each default, each side of \`&&\`, \`||\` and \`??\`. It writes this page. [Mutation testing](mutation.md) shows whether a test would notice a change of the code.

The command runs the short tests on SQLite, PostgreSQL, MariaDB, MySQL and replicated databases, and the long tests that take further branches. It leaves out tests that only read files, build, measure time or need a browser. The processes that the tests start count too, unless a test kills them or they run an installed copy of Portico. The groups of tests are in [tools/coverage/groups.ts](../tools/coverage/groups.ts). They need PostgreSQL, MariaDB, MySQL and SoftHSM on this computer, and root. The last result has all groups.

- \`npm run coverage -- --group postgres\` runs one group. \`--add\` adds it to the last result. The results of a file add up only if the file has not changed since.
- \`npm run coverage -- --add test/dpop.test.ts\` adds a single file. \`--project\` chooses the engine.`;

const BELOW = `These files are below ${LEAST} %. The reasons are in [tools/coverage/explained.ts](../tools/coverage/explained.ts). A new file below the limit needs a test or a reason.`;

const OPEN = 'No reason yet';

/** Returns the page as Markdown. */
export async function pageOf(coverage: Coverage): Promise<string> {
  const packages = Map.groupBy(Object.keys(coverage), (file) => file.split('/')[1] ?? '');
  const row = (name: string, files: readonly string[]) => {
    const { branches, covered, percent } = sumOf(files.map((file) => coverage[file] as Count));
    const below = filesBelow(coverage).filter((file) => files.includes(file)).length;
    return `| ${name} | ${files.length} | ${branches} | ${covered} | ${percent} % | ${below} |`;
  };
  const groups = Map.groupBy(filesBelow(coverage), (file) => reasonFor(file) ?? OPEN);
  const lists = [...groups].map(([why, files]) => {
    const rows = files.map((file) => {
      const { branches, covered, percent } = sumOf([coverage[file] as Count]);
      return `| \`${file.replace('packages/', '')}\` | ${covered} of ${branches} | ${percent} % |`;
    });
    return `**${why}**\n\n| File | Branches taken | Share |\n| --- | ---: | ---: |\n${rows.join('\n')}`;
  });
  const text = [
    INTRODUCTION,
    '## By package',
    [
      '| Package | Files | Branches | Taken | Share | Files below |',
      '| --- | ---: | ---: | ---: | ---: | ---: |',
      ...[...packages].map(([name, files]) => row(name, files)),
      row('**all**', Object.keys(coverage)),
    ].join('\n'),
    '## Files below the limit',
    BELOW,
    ...lists,
    '## Next',
    '[Mutation testing](mutation.md), and [what else is checked](assurance.md).',
  ].join('\n\n');
  return prettier.format(text, {
    ...(await prettier.resolveConfig(path.join(root, PAGE))),
    parser: 'markdown',
  });
}
