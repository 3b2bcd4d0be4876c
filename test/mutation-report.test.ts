// @engines sqlite: it reads what was found
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { baselineOf, miscounted, misplaced, readBaseline, scoreOf } from '../tools/mutation/baseline.ts';
import {
  hashOf,
  isCurrent,
  problemsOf,
  readExplanations,
  survivorsOf,
  type Mutant,
  type Report,
} from '../tools/mutation/report.ts';

const ROOT = path.join(import.meta.dirname, '..');
const baseline = readBaseline();
const explanations = readExplanations();
const ASSURANCE = readFileSync(path.join(ROOT, 'docs', 'assurance.md'), 'utf8');

describe('what `npm run mutation` found last', () => {
  test('the score is at least the one that docs/assurance.md states', () => {
    const stated = Number(/(\d+(?:\.\d+)?) % of \d+ mutants/.exec(ASSURANCE)?.[1]);
    expect(scoreOf(baseline).score).toBeGreaterThanOrEqual(stated);
  });

  test('a mutant that lives is explained, and an explanation explains one', () => {
    expect(miscounted(baseline, explanations)).toEqual([]);
    expect(misplaced(explanations, (name) => isCurrent(baseline, name))).toEqual([]);
    expect(explanations.filter(({ why }) => why.length < 20)).toEqual([]);
  });
});

describe('a report', () => {
  const file = 'tools/mutation/words.ts';
  const found = reportOf('killed');

  /** A report of one file, with two mutants: `true` in its first `===`, and an empty first string. */
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

  test('says how many of the mutants each file of tests killed', () => {
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

  test('of less, since a test was taken away, has a lower score, and names the mutant', () => {
    const changed = reportOf('survived');
    expect(scoreOf(baselineOf(found))).toEqual({ killed: 2, all: 2, score: 100 });
    expect(scoreOf(baselineOf(changed))).toEqual({ killed: 1, all: 2, score: 50 });
    expect(problemsOf(found, [])).toEqual([]);
    expect(problemsOf(changed, [])).toEqual([expect.stringContaining(`${file}:13:9`)]);
    expect(miscounted(baselineOf(changed), [])).toEqual([expect.stringContaining(file)]);
  });

  test('whose survivor is explained is as it should be', () => {
    const changed = reportOf('survived');
    const own = explanationsOf(changed);
    expect(problemsOf(changed, own)).toEqual([]);
    expect(miscounted(baselineOf(changed), own)).toEqual([]);
    expect(misplaced(own, () => true)).toEqual([]);
  });

  test('refuses an explanation of what is killed, or of a line that is gone', () => {
    const own = explanationsOf(reportOf('survived'));
    expect(problemsOf(found, own)).toEqual([expect.stringContaining('explains nothing any more')]);
    expect(miscounted(baselineOf(found), own)).toEqual([expect.stringContaining(file)]);
    const moved = own.map((each) => ({ ...each, line: 'was here();' }));
    expect(misplaced(moved, () => true)).toEqual([expect.stringContaining('explains nothing any more')]);
  });

  function explanationsOf(report: Report) {
    const why = 'It was thought to be equivalent.';
    return survivorsOf(report, file).map((survivor) => ({ ...survivor, why }));
  }
});
