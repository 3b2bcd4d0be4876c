// @engines sqlite: it reads the pages, and the stored figures of the benchmarks
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { shown } from '../tools/bench/plots.ts';
import { isRun, storedResults, targetsIn } from '../tools/bench/results.ts';
import { BLOCK, currentFiles, PAGES } from '../tools/scripts/figures.ts';
import { ROOT } from './support/console.ts';

const read = (file: string) => readFileSync(path.resolve(ROOT, file), 'utf8');
const RUNS = [...storedResults()].flatMap(([name, run]) => (isRun(run) ? [{ name, run }] : []));
/** Ways to quote what a benchmark measured. */
const QUOTED = [
  /\b\d[\d,.]* ?×(?! ?\d)/,
  /\b\d[\d,.]* ?(?:µs|microseconds)\b/,
  /\b[\d,.]+ times (?:as|the|faster|slower)\b/,
  /\b\d[\d,]* (?:\w+ )?(?:requests|tokens|refreshes|introspections|calls|writes|signatures|authorizations) (?:a|per) second\b/,
  /\b\d[\d,.]* (?:ms|milliseconds|µs) of (?:the|its|a) (?:core|processor|CPU)\b/,
  /\b(?:about|needs|takes) \d[\d,.]* (?:MiB|ms)\b/,
];
/** Pages whose figures are not benchmarks: what tests and fuzzers did. */
const OTHER_FIGURES = ['docs/assurance.md'];

type Targets = { readonly reached: number; readonly of: number } | undefined;
const long = (targets: Targets) => `Targets reached: ${targets?.reached} of ${targets?.of}.`;
const short = (targets: Targets) =>
  `Portico reaches ${targets?.reached} of its ${targets?.of} [performance targets](`;

function quotesIn(page: string): readonly string[] {
  const prose = read(page).replaceAll(BLOCK, '');
  return QUOTED.flatMap((quote) => [...prose.matchAll(new RegExp(quote, 'g'))].map(([all]) => all));
}

describe('the figures of the benchmarks', () => {
  test('are the stored ones in every page and chart', async () => {
    const stale = [...(await currentFiles())].filter(([file, text]) => read(file) !== text);
    expect(stale.map(([file]) => `${path.relative(ROOT, file)}: npm run figures`)).toEqual([]);
  });

  test.each(PAGES.filter((page) => !OTHER_FIGURES.includes(page)))(
    'are only in generated blocks of a page: %s',
    (page) => {
      expect(quotesIn(page)).toEqual([]);
    },
  );

  test.each(RUNS)('are in the tables of the same run: $name', ({ run }) => {
    const lines = run.tables.map(({ chart, rows }) => ({ chart, rows }));
    const missing = (chart: string, byWork: typeof run.p99, text: (value: number) => string) =>
      Object.entries(byWork).flatMap(([work, by]) =>
        Object.values(by)
          .map(text)
          .filter((cell) => {
            const table = lines.find((each) => each.chart === chart);
            const row = table?.rows.find(([name]) => name === work) ?? [];
            return !row.some((each) => each === cell || each.startsWith(`${cell} (`));
          }),
      );
    expect(missing('rate', run.perSecond, shown)).toEqual([]);
    expect(missing('p99', run.p99, (value) => value.toFixed(1))).toEqual([]);
    expect(Object.keys(run.perSecond).length).toBeGreaterThan(7);
  });

  test.each([...storedResults()])(
    'have the same number of targets as the tables of %s',
    (_, result) => {
      expect(result.targets).toEqual(targetsIn(result.tables));
      expect(result.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    },
  );

  test.each([
    ['README.md', ['sqlite'], short],
    ['docs/comparison.md', ['sqlite'], short],
    ['tools/bench/RESULTS.md', ['sqlite', 'postgres'], long],
  ])('are shown with their date and the number of reached targets: %s', (page, engines, saidIn) => {
    const text = read(page);
    for (const engine of engines) {
      const { date, targets } = storedResults().get(engine) ?? {};
      expect(text).toContain(saidIn(targets));
      expect(text).toContain(new Date(date ?? '').getUTCFullYear().toString());
    }
  });
});
