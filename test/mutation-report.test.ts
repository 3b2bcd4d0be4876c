// @engines sqlite: it only reads files
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  baselineOf,
  miscounted,
  misplaced,
  openIn,
  readBaseline,
  scoreOf,
} from '../tools/mutation/baseline.ts';
import { outside, reasonOf } from '../tools/mutation/not-counted.ts';
import { pageOf, readPage, statedShares, statedUnchanged } from '../tools/mutation/page.ts';
import {
  hashOf,
  isCurrent,
  problemsOf,
  readExplanations,
  survivorsOf,
  type Mutant,
  type Report,
} from '../tools/mutation/report.ts';
import { sharesOf } from '../tools/mutation/shares.ts';

const ROOT = path.join(import.meta.dirname, '..');
const baseline = readBaseline();
const explanations = readExplanations();
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const ASSURANCE = readFileSync(path.join(ROOT, 'docs', 'assurance.md'), 'utf8');

describe('the last result of `npm run mutation`', () => {
  test('has at least the score that docs/assurance.md states', () => {
    const stated = Number(/(\d+(?:\.\d+)?) % of \d+ mutants/.exec(ASSURANCE)?.[1]);
    expect(scoreOf(baseline).score).toBeGreaterThanOrEqual(stated);
  });

  test('has a mutant for every explanation, and no explanation is empty', () => {
    expect(miscounted(baseline, explanations)).toEqual([]);
    expect(misplaced(explanations, (name) => isCurrent(baseline, name))).toEqual([]);
    expect(explanations.filter(({ why }) => why.length < 20)).toEqual([]);
  });

  test('has the numbers of the page: killed mutants, and survivors with and without a reason', async () => {
    const page = readPage();
    const [shares, unchanged] = [statedShares(page), statedUnchanged(page)];
    expect(await pageOf(baseline, explanations, shares, unchanged)).toBe(page);
  });

  test('covers at least the share of the code that the page and the README state', () => {
    const actual = sharesOf(baseline);
    const stated = statedShares(readPage());
    expect(Object.keys(stated).toSorted()).toEqual(Object.keys(actual).toSorted());
    for (const [name, share] of Object.entries(stated))
      expect(actual[name], name).toBeGreaterThanOrEqual(share - 1);
    const said = Number(/Mutation tests\]\([^)]*\) cover (\d+) % of the code/.exec(README)?.[1]);
    expect(actual['all']).toBeGreaterThanOrEqual(said);
  });

  test('covers every source file, or has a reason for its exclusion', () => {
    expect(outside().filter((file) => reasonOf(file) === null)).toEqual([]);
  });
});

describe('a mutation report', () => {
  const file = 'tools/mutation/words.ts';
  const found = reportOf('killed');

  /**
   * A report of one file with two mutants: `true` in its first `===`, and an empty first string.
   */
  function reportOf(fate: Mutant['fate']): Report {
    const by = { by: 'test/words.test.ts' };
    const first = { at: '13:9-13:38', mutator: 'ConditionalExpression', replacement: 'true' };
    const second = {
      at: '13:23-13:38',
      mutator: 'StringLiteral',
      replacement: '""',
      fate: 'killed',
    } as const;
    const mutants = [
      { ...first, fate, ...(fate === 'killed' ? by : {}) },
      { ...second, ...by },
    ];
    return { [file]: { source: hashOf(file), mutants } };
  }

  test('shows how many mutants each test file killed', () => {
    expect(baselineOf(reportOf('survived'))).toEqual({
      [file]: {
        source: hashOf(file),
        killed: 1,
        survived: 1,
        static: 0,
        words: 0,
        by: { 'test/words.test.ts': 1 },
      },
    });
  });

  test('has a lower score after a test is removed, and contains the mutant', () => {
    const changed = reportOf('survived');
    expect(scoreOf(baselineOf(found))).toEqual({ killed: 2, all: 2, score: 100 });
    expect(scoreOf(baselineOf(changed))).toEqual({ killed: 1, all: 2, score: 50 });
    expect(problemsOf(found, [])).toEqual([]);
    expect(problemsOf(changed, [])).toEqual([expect.stringContaining(`${file}:13:9`)]);
    expect(openIn(baselineOf(changed), [])).toBe(1);
  });

  test('accepts a survivor that has an explanation', () => {
    const changed = reportOf('survived');
    const own = explanationsOf(changed);
    expect(problemsOf(changed, own)).toEqual([]);
    expect(openIn(baselineOf(changed), own)).toBe(0);
    expect(miscounted(baselineOf(changed), own)).toEqual([]);
    expect(misplaced(own, () => true)).toEqual([]);
  });

  test('refuses an explanation for a killed mutant or for a line that no longer exists', () => {
    const own = explanationsOf(reportOf('survived'));
    expect(problemsOf(found, own)).toEqual([expect.stringContaining('explains nothing any more')]);
    expect(miscounted(baselineOf(found), own)).toEqual([expect.stringContaining(file)]);
    const moved = own.map((each) => ({ ...each, line: 'was here();' }));
    expect(misplaced(moved, () => true)).toEqual([
      expect.stringContaining('explains nothing any more'),
    ]);
  });

  function explanationsOf(report: Report) {
    const why = 'It was thought to be equivalent.';
    return survivorsOf(report, file).map((survivor) => ({ ...survivor, why }));
  }
});
