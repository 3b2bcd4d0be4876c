import { describe, expect, test } from 'vitest';
import { containsLookalike, looksLike } from './lookalikes.ts';

describe('a name with a letter that two others are written for', () => {
  test.each([
    ['WEISS', 'Weiß'],
    ['Weiss', 'WEIẞ'],
    ['weiß', 'Weiss'],
    ['WE1SS', 'Weiß'],
  ])('%s is like %s, alone and with more beside it', (name, server) => {
    expect(looksLike(name, server)).toBe(true);
    expect(containsLookalike(`${name} Notes`, server)).toBe(true);
  });

  test('another one is not', () => {
    expect(looksLike('Weis', 'Weiß')).toBe(false);
    expect(containsLookalike('Weiher', 'Weiß')).toBe(false);
  });
});
