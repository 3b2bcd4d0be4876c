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

describe('a name that differs only in characters that people cannot tell apart', () => {
  test.each([
    ['P0rta1', 'with digits'],
    ['ΡοrtаӀ', 'with letters of other alphabets'],
    ['P O-R.T_A L', 'with spaces and punctuation'],
    ['Pórtäl', 'with accents'],
    ['Por\u200Btal', 'with a character that has no width'],
    ['Port@l', 'with a symbol that reads as a letter'],
    ['@Portal', 'with a symbol before it'],
    ['Porta|', 'with a bar as a letter'],
    ['×Portal|$', 'with other symbols around it'],
    ['\u{1F15F}\u{1F15E}\u{1F161}\u{1F163}\u{1F150}\u{1F15B}', 'in circles'],
    ['\u{1F1F5}\u{1F1F4}\u{1F1F7}\u{1F1F9}\u{1F1E6}\u{1F1F1}', 'in letters of flags'],
    ['Ｐｏｒｔａｌ', 'in wide letters'],
  ])('%s is a lookalike of Portal: %s', (name) => {
    expect(looksLike(name, 'Portal')).toBe(true);
    expect(containsLookalike(`The ${name} Team`, 'Portal')).toBe(true);
    expect(looksLike(`${name}x`, 'Portal')).toBe(false);
  });

  test.each([
    ['Comer', 'Corner'],
    ['Corner', 'Comer'],
    ['wiki', 'VVlKl'],
    ['vviki', 'Wiki'],
  ])('%s looks like %s, with two letters that read as one', (name, server) => {
    expect(looksLike(name, server)).toBe(true);
  });
});

describe('a short name of a server', () => {
  test.each([
    ['Abc', true],
    ['The a b', false],
    ['The @bc\ttool', true],
    ['Abcd', false],
    ['The Abcess', false],
    ['xabc', false],
    ['', false],
  ])('within %j is found only as a whole word: %s', (name, isFound) => {
    expect(containsLookalike(name, 'ABC')).toBe(isFound);
  });

  test('of four letters is found anywhere', () => {
    expect(containsLookalike('Xabcdx', 'ABCD')).toBe(true);
    expect(containsLookalike('Xabcx', 'ABC')).toBe(false);
  });
});

test.each(['', ' - ', '\u200B'])(
  'a server name without a letter, %j, is like no name',
  (server) => {
    for (const name of ['', 'Portal', '-']) {
      expect(looksLike(name, server)).toBe(false);
      expect(containsLookalike(name, server)).toBe(false);
    }
  },
);
