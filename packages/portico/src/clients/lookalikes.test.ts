import { describe, expect, test } from 'vitest';
import { containsLookalike, looksLike } from './lookalikes.ts';

describe('a name with a letter that two others look like', () => {
  test.each([
    ['WEISS', 'Weiß'],
    ['Weiss', 'WEIẞ'],
    ['weiß', 'Weiss'],
    ['WE1SS', 'Weiß'],
  ])('%s is like %s, alone and within more text', (name, server) => {
    expect(looksLike(name, server)).toBe(true);
    expect(containsLookalike(`${name} Notes`, server)).toBe(true);
  });

  test('another name is not', () => {
    expect(looksLike('Weis', 'Weiß')).toBe(false);
    expect(containsLookalike('Weiher', 'Weiß')).toBe(false);
  });
});
