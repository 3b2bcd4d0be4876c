import { expect, test } from 'vitest';
import { furtherDifferences } from './field-changes.ts';

test('a change of a field that a feature adds has its values before and after', () => {
  const before = { same: ['a', 'b'], order: ['a', 'b'], changed: ['a'], left: ['a'] };
  const after = { same: ['a', 'b'], order: ['b', 'a'], changed: ['b'], added: ['c'], empty: [] };
  expect(furtherDifferences(before, after)).toEqual({
    order: { before: ['a', 'b'], after: ['b', 'a'] },
    changed: { before: ['a'], after: ['b'] },
    added: { before: [], after: ['c'] },
  });
});
