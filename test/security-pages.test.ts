// @engines sqlite: it only reads files
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMarks } from '../tools/scripts/conformance/marks.ts';
import { chapters } from '../tools/scripts/conformance/rules.ts';
import { ROOT } from './support/console.ts';

/** Each promise of these pages must name rules, and tests that show it. */

const RULES = new Set(chapters(ROOT).flatMap(({ rules }) => rules.map(({ id }) => id)));
const RULE = /\[((?:AS|MCP|HOST|API|RFC\d+)-[\d.]+[a-z]?)\]/g;
const TEST = /\]\(\.\.\/((?:test|src)\/[\w./-]+\.test\.ts)\)/g;

const marked = new Map<string, ReadonlySet<string>>();
function shownBy(file: string): ReadonlySet<string> {
  let found = marked.get(file);
  if (found === undefined) {
    found = new Set(readMarks(ROOT, file).flatMap(({ ids }) => ids));
    marked.set(file, found);
  }
  return found;
}

interface Promised {
  readonly where: string;
  readonly rules: readonly string[];
  readonly tests: readonly string[];
}

/** The rows of the tables whose last column proves a promise. */
function promises(
  page: string,
  text = readFileSync(path.join(ROOT, page), 'utf8'),
): readonly Promised[] {
  let isPromise = false;
  return text.split('\n').flatMap((line, at) => {
    if (!line.startsWith('|')) isPromise = false;
    if (/\| Shown by +\|$/.test(line)) isPromise = true;
    const cells = line.split(' | ');
    if (!isPromise || cells.length < 3 || /Shown by +\|$/.test(line) || line.startsWith('| -'))
      return [];
    const rules = [...(cells.at(-2) ?? '').matchAll(RULE)].map(([, id = '']) => id);
    const tests = [...(cells.at(-1) ?? '').matchAll(TEST)].map(([, file = '']) => file);
    return [{ where: `${page}:${at + 1}`, rules, tests }];
  });
}

/**
 * Returns the problems of the rows: a missing rule or test, or a test that does not show the
 * promise.
 */
function problemsOf(rows: readonly Promised[]): readonly string[] {
  return rows.flatMap(({ where, rules, tests }) => {
    const shows = (file: string) =>
      existsSync(path.join(ROOT, file)) && rules.some((id) => shownBy(file).has(id));
    return [
      ...(rules.length === 0 ? [`${where}: no rule`] : []),
      ...(tests.length === 0 ? [`${where}: no test`] : []),
      ...rules.filter((id) => !RULES.has(id)).map((id) => `${where}: there is no ${id}`),
      ...tests.filter((file) => !shows(file)).map((file) => `${where}: ${file} shows none of them`),
    ];
  });
}

describe.each([
  ['docs/security-model.md', 25],
  ['docs/threat-model.md', 60],
])('%s', (page, least) => {
  const rows = promises(page);

  test('has a rule and a test for each promise, and the test shows the rule', () => {
    expect(rows.length).toBeGreaterThan(least);
    expect(problemsOf(rows)).toEqual([]);
  });
});

describe('a table row', () => {
  const HEADER = '| Threat | Rules | Shown by |\n| --- | --- | --- |\n';
  const SHOWN = '[pages](../test/security-pages.test.ts)';

  test.each([
    [
      'with a missing test',
      '[AS-8.3](x) | [none](../test/none.test.ts)',
      'test/none.test.ts shows none of them',
    ],
    [
      'with a test of a different rule',
      `[AS-8.3](x) | ${SHOWN}`,
      'test/security-pages.test.ts shows none of them',
    ],
    [
      'with a missing rule',
      '[RFC1-2](x) | [consent](../test/consent.test.ts)',
      'there is no RFC1-2',
    ],
    ['without a link to a test', '[AS-8.3](x) | of course', 'no test'],
    ['without a rule', 'one of ours | [consent](../test/consent.test.ts)', 'no rule'],
  ])('%s is reported', (_, cells, problem) => {
    expect(problemsOf(promises('page', `${HEADER}| Threat | ${cells} |`))).toContain(
      `page:3: ${problem}`,
    );
  });
});

test('the threat model has a section for each boundary of its diagram, with what is not covered', () => {
  const text = readFileSync(path.join(ROOT, 'docs/threat-model.md'), 'utf8');
  const parts = text.split(/^### /m).slice(1);
  expect(parts.map((part) => /^\d+(?: [a-z ]+and \d+)?/i.exec(part)?.[0])).toEqual([
    '1',
    '2',
    '3',
    '4',
    '5 The store and 6',
    '7',
    '8',
    '9',
    '10',
  ]);
  expect(parts.filter((part) => !/^Not done: \S/m.test(part))).toEqual([]);
});
