import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  acceptedLanguages,
  canonicalTag,
  getDirection,
  lookUp,
  widened,
  wishedLanguages,
} from './language-ranges.ts';

const THERE = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh-Hans', 'ar'];

describe('the chosen language', () => {
  test.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-at', 'de'],
    ['de-AT-1996', 'de'],
    ['pt-BR', 'pt'],
    ['zh', 'zh-Hans'],
    ['zh-CN', 'zh-Hans'],
    ['zh-SG', 'zh-Hans'],
    ['zh-Hans-CN', 'zh-Hans'],
    ['zh-TW', null],
    ['zh-Hant', null],
    ['ar-EG', 'ar'],
    ['nl', null],
    ['nl, fr-CH;q=0.8', 'fr'],
    ['fr;q=0.2, de;q=0.3', 'de'],
    ['fr, de', 'fr'],
    ['de;q=0, fr;q=0.1', 'fr'],
    ['*, fr', 'fr'],
    ['de;q=2, fr;q=0.1', 'fr'],
    ['de;level=1;q=0.1, fr;q=0.2', 'fr'],
    [' ,;q=1,,de ; q=0.5', 'de'],
    ['', null],
    ['de;q=0', null],
    ['de;q=0.25', 'de'],
    ['fr;q=0.12, de;q=0.125', 'de'],
    ['de;q=1.000, fr;q=0.999', 'de'],
    ['de;q=0., fr;q=0.1', 'fr'],
    ['de;q=0.1234, fr;q=0.1', 'fr'],
    ['de;q=1.001, fr;q=0.1', 'fr'],
    ['de;q=1.0000, fr;q=0.1', 'fr'],
    ['de;q=x0.5, fr;q=0.1', 'fr'],
    ['de;q=0.5x, fr;q=0.1', 'fr'],
    ['de;Q=0.1, fr;q=0.2', 'fr'],
    ['fr;q=0.9, de;xq=0', 'de'],
    [`${'nl,'.repeat(19)}fr`, 'fr'],
    [`${'nl,'.repeat(20)}fr`, null],
    [`nl${' '.repeat(498)},fr`, null],
  ])('for Accept-Language: %j is %j', (header, expected) => {
    expect(lookUp(acceptedLanguages(header), THERE)).toBe(expected);
  });

  test('for ui_locales is the first available one', () => {
    expect(lookUp(wishedLanguages(['nl', 'fr-CA', 'de']), THERE)).toBe('fr');
  });

  test('for ui_locales is one of the first twenty', () => {
    const others = Array.from({ length: 20 }, () => 'nl');
    expect(lookUp(wishedLanguages([...others.slice(1), 'fr']), THERE)).toBe('fr');
    expect(lookUp(wishedLanguages([...others, 'fr']), THERE)).toBe(null);
  });

  test('is never that of a very long tag, which is ignored', () => {
    const endless = `de-x${'-a'.repeat(200)}`;
    expect(wishedLanguages([endless, 'fr'])).toEqual(['fr']);
    expect(acceptedLanguages(`${endless}, fr`)).toEqual(['fr']);
  });

  test('is never that of a tag whose canonical form is not canonical itself', () => {
    expect(Intl.getCanonicalLocales('rt-lojban-stre9')).toEqual(['rt-stre9']);
    expect(canonicalTag('rt-lojban-stre9')).toBe(null);
    expect(canonicalTag('art-lojban')).toBe('jbo');
    expect(acceptedLanguages('rt-lojban-stre9, fr')).toEqual(['fr']);
  });

  test('may be a narrower one than requested, in the same script', () => {
    expect(lookUp(['pt-PT'], ['en', 'pt-BR'])).toBe('pt-BR');
    expect(lookUp(['sr'], ['en', 'sr-Latn'])).toBe(null);
  });

  test.each([
    ['de-AT', ['de-CH', 'de', 'de-AT'], 'de-AT'],
    ['de-AT-1996', ['de-CH', 'de', 'de-AT'], 'de-AT'],
    ['de-AT', ['de-CH', 'de'], 'de'],
    ['de-AT', ['de-CH', 'de-DE'], 'de-CH'],
  ])('for %s is the nearest of %j', (wanted, available, expected) => {
    expect(lookUp([wanted], available)).toBe(expected);
  });

  test('can also be that of a more general tag, but of none that ends in a single letter', () => {
    expect(widened('zh-Hans-CN')).toEqual(['zh-Hans-CN', 'zh-Hans', 'zh']);
    expect(widened('de-u-co-phonebk')).toEqual(['de-u-co-phonebk', 'de-u-co', 'de']);
  });

  test('can have a tag of up to 100 characters', () => {
    const longest = `de-x${'-aaaaaaaa'.repeat(10)}-aaaaa`;
    expect([longest.length, canonicalTag(longest)]).toEqual([100, longest]);
    expect(canonicalTag(`${longest}a`)).toBe(null);
    expect(canonicalTag('not a tag')).toBe(null);
  });

  test('is found with one look at each language, however many are wanted', () => {
    const wanted = Array.from({ length: 40 }, (_, index) => `nl-x-a${index}`);
    const located = vi.spyOn(Intl, 'Locale');
    onTestFinished(() => located.mockRestore());
    expect(lookUp([...wanted, 'zh-CN'], THERE)).toBe('zh-Hans');
    expect(located.mock.calls.length).toBeLessThanOrEqual(wanted.length + 1 + THERE.length);
    located.mockClear();
    expect(lookUp(['de-AT'], THERE)).toBe('de');
    expect(located).not.toHaveBeenCalled();
  });

  test('is found without an error for any header', () => {
    const piece = fc.constantFrom(
      'de',
      'fr',
      ';',
      'q=',
      '0.',
      '1',
      ',',
      '*',
      '-',
      'x',
      'ü',
      '\u0000',
      ' ',
    );
    const header = fc.oneof(
      fc.string(),
      fc.array(piece).map((found) => found.join('')),
    );
    fc.assert(
      fc.property(header, (sent) => {
        for (const tags of [acceptedLanguages(sent), wishedLanguages(sent.split(' '))]) {
          expect(tags.length).toBeLessThanOrEqual(20);
          expect([...THERE, null]).toContain(lookUp(tags, THERE));
        }
      }),
    );
  });

  test.each([
    ['ar', 'rtl'],
    ['he', 'rtl'],
    ['fa-IR', 'rtl'],
    ['ur', 'rtl'],
    ['az-Arab', 'rtl'],
    ['az', 'ltr'],
    ['zh-Hans', 'ltr'],
    ['de', 'ltr'],
  ])('determines the text direction: %s is %s', (tag, direction) => {
    expect(getDirection(tag)).toBe(direction);
  });
});
