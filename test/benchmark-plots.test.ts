// @engines sqlite: it reads the figures that a run of the benchmarks stored
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { drawBars, RESULTS, shown, storedPictures, type Figures } from '../tools/bench/plots.ts';
import { ROOT } from './support/console.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const PAGE = read('tools/bench/RESULTS.md');
const STORED = globSync('*.json', { cwd: RESULTS }).toSorted();

describe('the charts of the benchmarks', () => {
  test('are drawn from the stored figures', () => {
    const stale = [...storedPictures()].filter(
      ([file, picture]) => readFileSync(file, 'utf8') !== picture,
    );
    expect(stale.map(([file]) => `${path.basename(file)}: node tools/bench/plots.ts`)).toEqual([]);
    expect(storedPictures().size).toBe(6);
  });

  test('are all shown in tools/bench/RESULTS.md', () => {
    const shownThere = [...PAGE.matchAll(/!\[[^\]]+\]\(results\/([\w-]+\.svg)\)/g)].map(
      ([, name = '']) => name,
    );
    const drawn = [...storedPictures().keys()].map((file) => path.basename(file));
    expect(shownThere.toSorted()).toEqual(drawn.toSorted());
  });

  test.each(STORED)('show figures from the tables: %s', (file) => {
    const figures = JSON.parse(readFileSync(path.join(RESULTS, file), 'utf8')) as Figures;
    const [first = '', second = ''] = PAGE.split('\n## PostgreSQL\n');
    const lines = (file.startsWith('postgres') ? second : first).split('\n');
    const cells = (byWork: Figures['p99'], text: (value: number) => string) =>
      Object.entries(byWork).flatMap(([work, by]) =>
        Object.values(by).map((value) => ({ work, cell: text(value) })),
      );
    const values = [
      ...cells(figures.perSecond, shown),
      ...cells(figures.p99, (value) => value.toFixed(1)),
    ];
    const missing = values.filter(
      ({ work, cell }) =>
        !lines.some((line) => line.startsWith(`| ${work} `) && line.includes(` ${cell} `)),
    );
    expect(missing).toEqual([]);
    expect(values.length).toBeGreaterThan(50);
  });
});

describe('a bar chart', () => {
  const chart = {
    title: 'A <b>',
    description: 'Longer & better.',
    unit: ' ms',
    groups: [
      {
        title: 'one',
        bars: [
          { label: 'portico', value: 1000 },
          { label: 'other', value: 250 },
        ],
      },
      { title: 'two', bars: [{ label: '"bare"', value: 2.5 }] },
    ],
  };
  const picture = drawBars(chart);

  test('has bars in proportion to their values, on the scale of their group', () => {
    const widths = [...picture.matchAll(/<rect class="(?:bar|limit)[^>]* width="(\d+)"/g)].map(
      ([, width]) => Number(width),
    );
    expect(widths).toEqual([440, 110, 440]);
  });

  test('has its figures as text', () => {
    expect(picture).toMatch(/<title id="title">A &lt;b&gt;<\/title>/);
    expect(picture).toContain('one: portico 1,000, other 250; two: &quot;bare&quot; 2.5.</desc>');
    expect(picture).toContain('>2.5 ms</text>');
  });

  test('loads and runs nothing', () => {
    expect(picture.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|<script|url\(|@import| on\w+=/,
    );
  });
});
