import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { accentProblem, accentProperties, darkAccentOf, SCHEMES } from './accents.ts';
import { brandingProblems, brandingSchema, createBranding } from './branding.ts';
import { contrast, formatColor, nearestReadable, parseColor, type Color } from './colors.ts';
import { readLogo } from './logo.ts';

const color = (text: string): Color => parseColor(text) ?? [0, 0, 0];
const parts = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
const schemes = fc.constantFrom('light', 'dark');

describe('contrast', () => {
  test.each([
    ['#000000', '#ffffff', 21],
    ['#777777', '#ffffff', 4.48],
    ['#abc', '#abc', 1],
    ['#0000ff', '#ffffff', 8.59],
  ])('of %s to %s is %f, according to WCAG', (one, other, ratio) => {
    expect(contrast(color(one), color(other))).toBeCloseTo(ratio, 2);
    expect(contrast(color(other), color(one))).toBeCloseTo(ratio, 2);
  });

  test.each(['', 'red', '#12', '#12345', '#1234567', '#12345g', ' #123456', '#123456;}', 'rgb(0,0,0)'])(
    '%j is not a color',
    (text) => expect(accentProblem(text, 'light')).toBe('must be a colour such as #1f5c4d'),
  );
});

describe('an accent colour', () => {
  // @shows AS-39.7
  test('that is hard to read is refused with its ratio, and the nearest readable one is proposed', () => {
    expect(accentProblem('#ffcc00', 'light')).toBe(
      'has a contrast of 1.33:1 to the page (#f3f1ec) in the light colours, and text needs 4.5:1; the nearest that has it is #856b00',
    );
    expect(accentProblem('#1f5c4d', 'dark')).toContain('in the dark colours, and text needs 4.5:1');
    expect(accentProblem('#1f5c4d', 'light')).toBeNull();
  });

  // @shows AS-39.7
  test('gets a readable proposal, whatever it is, and a good one stays the same', () => {
    fc.assert(
      fc.property(parts, schemes, (given, name) => {
        const problem = accentProblem(formatColor(given), name);
        const proposed = /the nearest that has it is (#[0-9a-f]{6})$/.exec(problem ?? '')?.[1];
        expect(proposed === undefined).toBe(problem === null);
        expect(accentProblem(proposed ?? formatColor(given), name)).toBeNull();
      }),
    );
  });

  // @shows AS-39.7
  test('and its variants are readable: on buttons, also pointed at, on its tint; in dark mode made from light, too', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const light = nearestReadable(given, [SCHEMES.light.page, SCHEMES.light.card], SCHEMES.light.towards);
        for (const [name, accent] of [
          ['light', light],
          ['dark', darkAccentOf(light)],
        ] as const) {
          const made = Object.fromEntries(
            [...accentProperties(accent, name).matchAll(/--([\w-]+): (#\w+);/g)].map(
              ([, property, value]) => [property ?? '', color(value ?? '')],
            ),
          );
          const of = (property: string) => made[property] ?? [128, 128, 128];
          const { page, card } = SCHEMES[name];
          const least = Math.min(
            contrast(of('accent'), page),
            contrast(of('accent'), card),
            contrast(of('accent'), of('accent-page')),
            contrast(of('accent-ink'), of('accent')),
            contrast(of('accent-ink'), of('accent-hover')),
          );
          expect(least).toBeGreaterThanOrEqual(4.5);
        }
      }),
    );
  });

  test('is checked against the page and card colors of the layout', () => {
    const styles = readFileSync(
      path.join(import.meta.dirname, '..', 'views', 'portico', 'styles.eta'),
      'utf8',
    );
    const [light = '', dark = ''] = styles.split('prefers-color-scheme: dark');
    const has = (text: string) =>
      ['page', 'card'].map((name) => new RegExp(`--${name}: (#\\w+);`).exec(text)?.[1]);
    expect(has(light)).toEqual([SCHEMES.light.page, SCHEMES.light.card].map(formatColor));
    expect(has(dark)).toEqual([SCHEMES.dark.page, SCHEMES.dark.card].map(formatColor));
  });
});

describe('a logo', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-logo-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, bytes: string | Buffer) => {
    writeFileSync(path.join(folder, name), bytes);
    return path.join(folder, name);
  };
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

  // @shows AS-39.8
  test.each([
    ['image/png', Buffer.from('89504e470d0a1a0a0000000d494844520000000200000003', 'hex')],
    ['image/jpeg', Buffer.from('ffd8ffc0001108000300020301', 'hex')],
    ['image/webp', Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0/\x01\x81\0\0', 'latin1')],
    ['image/svg+xml', svg],
    ['image/svg+xml', `\ufeff<?xml version="1.0"?>\n<!-- a logo --><!DOCTYPE svg PUBLIC "a" "b">\n${svg}`],
  ])('is %s by its bytes, whatever its name', (type, bytes) => {
    expect(readLogo(file('logo.txt', bytes))).toMatchObject({ type });
  });

  // @shows AS-39.8
  test.each([
    ['GIF89a', 'is not a PNG, SVG, WebP or JPEG'],
    ['<html><svg></svg></html>', 'is not a PNG, SVG, WebP or JPEG'],
    ['<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', 'is not a PNG, SVG, WebP or JPEG'],
    ['<svgx/>', 'is not a PNG, SVG, WebP or JPEG'],
    ['\x89PNG\r\n\x1a\n, and then nothing of a picture', 'is not a PNG, SVG, WebP or JPEG'],
    ['', 'is not a PNG, SVG, WebP or JPEG'],
    [`${svg}${' '.repeat(256 * 1024)}`, 'bytes; 262144 are the most'],
  ])('%j is refused', (bytes, reason) => {
    const config = { logo: file('logo.svg', bytes), logo_dark: 'missing.png' };
    const [first, second] = brandingProblems(config, folder, 'branding');
    expect(first).toMatchObject({ key: 'branding:logo', message: expect.stringContaining(reason) });
    expect(second).toMatchObject({ key: 'branding:logo_dark', message: expect.stringContaining('ENOENT') });
  });

  test.each(['//evil.example/a.svg', 'https://evil.example/a.svg', '/\\evil', 'a.svg', '/a b', '/"onerror'])(
    'cannot be at %j',
    (given) => expect(brandingSchema.safeParse({ logo: { path: given } }).success).toBe(false),
  );

  test('without settings, there is no branding', () => {
    expect(createBranding(undefined, { directory: '/', basePath: '' })).toBeNull();
    expect(createBranding({}, { directory: '/', basePath: '' })).toBeNull();
  });
});
