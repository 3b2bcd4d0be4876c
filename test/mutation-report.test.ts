// @engines sqlite: it reads a report
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  isCurrent,
  problemsOf,
  readExplanations,
  readReport,
  scoreOf,
  survivorsOf,
  type Report,
} from '../mutation/report.ts';

const report = readReport();
const explanations = readExplanations();
const ASSURANCE = readFileSync(path.join(import.meta.dirname, '..', 'docs', 'assurance.md'), 'utf8');
/** The score of a file, and one of its mutants that is killed. */
const [file = '', { mutants } = { mutants: [] }] =
  Object.entries(report).find(([name]) => isCurrent(report, name)) ?? [];
const killed = mutants.find(({ fate }) => fate === 'killed');

/** The report, had no test killed that mutant. */
function withOneAlive(): Report {
  const changed = mutants.map((mutant) =>
    mutant === killed ? { ...mutant, fate: 'survived' as const } : mutant,
  );
  return { ...report, [file]: { source: report[file]?.source ?? '', mutants: changed } };
}

describe('what `npm run mutation` found last', () => {
  test('the score is at least the one that docs/assurance.md states', () => {
    const stated = Number(/(\d+(?:\.\d+)?) % of \d+ mutants/.exec(ASSURANCE)?.[1]);
    expect(scoreOf(report).score).toBeGreaterThanOrEqual(stated);
  });

  test('a mutant that lives is explained, and an explanation explains one', () => {
    expect(problemsOf(report, explanations)).toEqual([]);
    expect(explanations.filter(({ why }) => why.length < 20)).toEqual([]);
  });

  test('a test that is taken away lowers the score, and its mutant is named', () => {
    const changed = withOneAlive();
    expect(scoreOf(changed).score).toBeLessThan(scoreOf(report).score + 0.001);
    expect(scoreOf(changed).killed).toBe(scoreOf(report).killed - 1);
    expect(problemsOf(changed, explanations)).toEqual([
      expect.stringContaining(`${file}:${killed?.at.split('-')[0]}`),
    ]);
  });

  test('an explanation of what is killed is refused', () => {
    const [survivor] = survivorsOf(withOneAlive(), file).filter(({ at }) => at === killed?.at);
    if (survivor === undefined) throw new Error('No mutant to explain');
    const { at: _, ...key } = survivor;
    const problems = problemsOf(report, [
      ...explanations,
      { ...key, why: 'It was thought to be equivalent.' },
    ]);
    expect(problems).toEqual([expect.stringContaining('explains nothing any more')]);
  });
});
