// @engines sqlite: it reads the stored figures of the benchmarks
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { drawBars, storedPictures } from '../tools/bench/plots.ts';
import { ROOT } from './support/console.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const PAGE = read('tools/bench/RESULTS.md');

describe('the charts of the benchmarks', () => {
  test('are all shown in tools/bench/RESULTS.md', () => {
    const shownThere = [...PAGE.matchAll(/!\[[^\]]+\]\(results\/([\w-]+\.svg)\)/g)].map(
      ([, name = '']) => name,
    );
    const drawn = [...storedPictures().keys()].map((file) => path.basename(file));
    expect(shownThere.toSorted()).toEqual(drawn.toSorted());
    expect(drawn.length).toBe(6);
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

  test('contains its figures as text', () => {
    expect(picture).toMatch(/<title id="title">A &lt;b&gt;<\/title>/);
    expect(picture).toContain('one: portico 1,000, other 250; two: &quot;bare&quot; 2.5.</desc>');
    expect(picture).toContain('>2.5 ms</text>');
  });

  test('loads nothing and runs no script', () => {
    expect(picture.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|<script|url\(|@import| on\w+=/,
    );
  });
});
