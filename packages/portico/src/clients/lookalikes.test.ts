import { describe, expect, test } from 'vitest';
import { containsLookalike, looksLike } from './lookalikes.ts';

describe('a name with a letter that looks like two letters', () => {
  test.each([
    ['WEISS', 'Weiß'],
    ['Weiss', 'WEIẞ'],
    ['weiß', 'Weiss'],
    ['WE1SS', 'Weiß'],
  ])('%s looks like %s, alone and within a longer text', (name, server) => {
    expect(looksLike(name, server)).toBe(true);
    expect(containsLookalike(`${name} Notes`, server)).toBe(true);
  });

  test('differs from a name with different letters', () => {
    expect(looksLike('Weis', 'Weiß')).toBe(false);
    expect(containsLookalike('Weiher', 'Weiß')).toBe(false);
  });
});
