// @engines sqlite: it only reads files
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  BASELINE,
  branchesOf,
  filesBelow,
  PAGE,
  pageOf,
  readCoverage,
} from '../tools/coverage/coverage.ts';
import { reasonFor, REASONS } from '../tools/coverage/explained.ts';

const ROOT = path.join(import.meta.dirname, '..');
const coverage = readCoverage();

describe('the last result of `npm run coverage`', () => {
  test('has a reason for each file below the limit', () => {
    expect(filesBelow(coverage).filter((file) => reasonFor(file) === null)).toEqual([]);
  });

  test('needs every listed reason for a file below the limit', () => {
    const below = filesBelow(coverage);
    const isUsed = (pattern: string) => below.some((file) => path.matchesGlob(file, pattern));
    expect(Object.keys(REASONS).filter((pattern) => !isUsed(pattern))).toEqual([]);
  });

  test('matches the page, which names each file below the limit', async () => {
    expect(await pageOf(coverage), `${BASELINE}: npm run coverage -- --page`).toBe(
      readFileSync(path.join(ROOT, PAGE), 'utf8'),
    );
  });
});

describe('the branches of a file', () => {
  const branch = (line: number, hits: readonly number[]) => ({
    b: { 0: hits },
    branchMap: { 0: { type: 'if', loc: { start: { line, column: 2 } } } },
  });

  test('are counted as taken or not taken', () => {
    const found = branchesOf([{ '/a/packages/b/src/x.ts': branch(3, [4, 0]) }], '/a');
    expect(found).toEqual({ 'packages/b/src/x.ts': { branches: 2, covered: 1 } });
    expect(filesBelow(found)).toEqual(['packages/b/src/x.ts']);
  });

  test('are counted once if the file was loaded twice, and are not counted in dist', () => {
    const twice = {
      b: { 0: [1, 0], 1: [0, 1] },
      branchMap: { 0: branch(3, []).branchMap[0], 1: branch(3, []).branchMap[0] },
    };
    const found = branchesOf(
      [{ '/a/packages/b/src/x.ts': twice, '/a/packages/b/dist/x.js': branch(1, [0]) }],
      '/a',
    );
    expect(found).toEqual({ 'packages/b/src/x.ts': { branches: 2, covered: 2 } });
    expect(filesBelow(found)).toEqual([]);
  });

  test('are counted once if the bundle has a branch at another position', () => {
    const at = (source: object) => ({ '/a/packages/b/src/x.ts': source }) as never;
    const written = { b: { 0: [1, 1], 1: [0, 0] } };
    const branchMap = { 0: branch(1, []).branchMap[0], 1: branch(3, []).branchMap[0] };
    const bundled = { 0: branch(1, []).branchMap[0], 1: branch(4, []).branchMap[0] };
    const results = [
      at({ ...written, branchMap }),
      at({ b: { 0: [1, 1], 1: [2, 0] }, branchMap: bundled }),
    ];
    expect(branchesOf(results, '/a')).toEqual({
      'packages/b/src/x.ts': { branches: 4, covered: 3 },
    });
  });
});
