// @engines sqlite: it reads the pages
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMarks } from '../scripts/conformance/marks.ts';
import { chapters } from '../scripts/conformance/rules.ts';
import { ROOT } from './support/console.ts';

/** What these pages promise has rules, and tests that show them. */

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

/** Rows of the tables that end in what shows a promise. */
function promises(page: string) {
  const lines = readFileSync(path.join(ROOT, page), 'utf8').split('\n');
  let isPromise = false;
  return lines.flatMap((line, at) => {
    if (!line.startsWith('|')) isPromise = false;
    if (/\| Shown by +\|$/.test(line)) isPromise = true;
    const cells = line.split(' | ');
    if (!isPromise || cells.length < 3 || /Shown by +\|$/.test(line) || line.startsWith('| -')) return [];
    const rules = [...(cells.at(-2) ?? '').matchAll(RULE)].map(([, id = '']) => id);
    const tests = [...(cells.at(-1) ?? '').matchAll(TEST)].map(([, file = '']) => file);
    return [{ where: `${page}:${at + 1}`, rules, tests }];
  });
}

describe.each([
  ['docs/security-model.md', 25],
  ['docs/threat-model.md', 35],
])('%s', (page, least) => {
  const rows = promises(page);

  test('has a rule and a test for each of its promises', () => {
    expect(rows.length).toBeGreaterThan(least);
    expect(rows.filter(({ rules, tests }) => rules.length === 0 || tests.length === 0)).toEqual([]);
  });

  test('names rules that there are, and tests that show one of them', () => {
    const unknown = rows.flatMap(({ where, rules }) =>
      rules.filter((id) => !RULES.has(id)).map((id) => `${where}: ${id}`),
    );
    const wrong = rows.flatMap(({ where, rules, tests }) =>
      tests
        .filter((file) => !existsSync(path.join(ROOT, file)) || !rules.some((id) => shownBy(file).has(id)))
        .map((file) => `${where}: ${file}`),
    );
    expect([unknown, wrong]).toEqual([[], []]);
  });

  test('leaves none of these rules without a test', () => {
    const bare = rows.flatMap(({ where, rules, tests }) =>
      rules.some((id) => tests.some((file) => shownBy(file).has(id))) ? [] : [where],
    );
    expect(bare).toEqual([]);
  });
});
