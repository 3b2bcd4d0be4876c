// @engines sqlite: it only reads files
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { proseOf } from '../tools/scripts/markdown.ts';
import { ROOT } from './support/console.ts';

/** Pages to look things up in. All other pages of docs/ are guides. */
const REFERENCE = [
  'docs/assurance.md',
  'docs/audit-guide.md',
  'docs/configuration.md',
  'docs/coverage.md',
  'docs/extension-points.md',
  'docs/host-contract.md',
  'docs/mutation.md',
  'docs/specification.md',
  'docs/standards.md',
  'docs/threat-model.md',
  'docs/troubleshooting.md',
];

const DECISIONS = globSync('docs/decisions/*.md', { cwd: ROOT });

const GUIDES = globSync('docs/**/*.md', {
  cwd: ROOT,
  exclude: (name) => name === 'decisions' || name === 'generated',
}).filter((page) => !REFERENCE.includes(page));

const read = (page: string) => readFileSync(path.join(ROOT, page), 'utf8');

/** The words of a page, without code blocks, comments and the addresses of links. */
function wordsOf(markdown: string): number {
  const text = proseOf(markdown.replaceAll(/(?<!`)`(?!`)/g, ''), true).replaceAll(
    /\]\([^)]*\)/g,
    ']',
  );
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’.:/_-]*/gu)?.length ?? 0;
}

/** All words of a page, with its code and tables, as `wc -w` counts them. */
const allWordsOf = (page: string) => read(page).split(/\s+/).filter(Boolean).length;

describe('the length of a page', () => {
  test('is at most 600 words for the README, with its tables', () => {
    expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(600);
  });

  test.each(GUIDES)('is at most 1,200 words for a guide, with its code and tables: %s', (page) => {
    expect(allWordsOf(page)).toBeLessThanOrEqual(1200);
  });

  test.each(DECISIONS)('is at most 200 words for a decision: %s', (page) => {
    expect(allWordsOf(page)).toBeLessThanOrEqual(200);
  });

  test('is counted without code, links and comments, and only for existing pages', () => {
    expect(REFERENCE.filter((page) => !existsSync(path.join(ROOT, page)))).toEqual([]);
    expect(GUIDES.length).toBeGreaterThan(60);
    expect(DECISIONS.length).toBeGreaterThan(60);
    expect(
      wordsOf('# One two\n\nThree `four` [five](six.md).\n\n```sh\nseven\n```\n\n<!-- eight -->\n'),
    ).toBe(5);
  });
});
