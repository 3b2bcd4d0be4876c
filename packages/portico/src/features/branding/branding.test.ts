import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { getBranding } from './branding.ts';
import { brandingShape, type BrandingConfig } from './config.ts';
import { readLogo } from './logo.ts';
import { buildStyles } from './styles.ts';

describe('a branding color', () => {
  test.each([
    '',
    'red',
    '#12',
    '#12345',
    '#1234567',
    '#12345g',
    ' #123456',
    '#123456;}',
    'rgb(0,0,0)',
  ])('%j is refused', (accent) => {
    const { error } = brandingShape.branding.safeParse({ accent });
    expect(error?.issues).toMatchObject([{ message: 'must be a color such as #1f5c4d' }]);
  });

  test('is in the style sheet for both modes, unless dark mode has a different one', () => {
    const brands = (config: BrandingConfig) =>
      [...buildStyles(config).matchAll(/--brand: (#\w+);/g)].map(([, brand]) => brand);
    expect(brands({ accent: '#abc' })).toEqual(['#abc', '#abc']);
    expect(brands({ accent: '#abc', accent_dark: '#123456' })).toEqual(['#abc', '#123456']);
    expect(brands({ accent_dark: '#123456' })).toEqual(['#123456']);
    expect(buildStyles({ accent_dark: '#123456' })).toMatch(/^@supports [^{]* \{\s*@media /);
    expect(buildStyles({ logo: 'logo.svg' })).toBe('');
  });

  test('is mixed into the card colors of the layout', () => {
    const folder = path.join(import.meta.dirname, '..', '..', 'pages', 'views', 'portico');
    const [light = '', dark = ''] = readFileSync(path.join(folder, 'styles.eta'), 'utf8').split(
      'dark)',
    );
    const cardOf = (text: string) => /--card: (#\w+);/.exec(text)?.[1];
    const mixed = [
      ...buildStyles({ accent: '#abc' }).matchAll(/--accent-page: color-mix\(in srgb, (#\w+),/g),
    ];
    expect(mixed.map(([, card]) => card)).toEqual([cardOf(light), cardOf(dark)]);
  });
});

describe('a branding logo', () => {
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
    [
      'image/svg+xml',
      `\ufeff<?xml version="1.0"?>\n<!-- a logo --><!DOCTYPE svg PUBLIC "a" "b">\n${svg}`,
    ],
  ])('is recognized as %s by its bytes, whatever its name', (type, bytes) => {
    expect(readLogo(file('logo.txt', bytes))).toMatchObject({ type });
  });

  // @shows AS-39.8
  test('can have 256 KiB', () => {
    expect(readLogo(file('logo.svg', svg.padEnd(256 * 1024)))).toMatchObject({
      type: 'image/svg+xml',
      version: expect.stringMatching(/^[\w-]{16}$/) as string,
    });
  });

  // @shows AS-39.8
  test.each([
    ['GIF89a', 'is not a PNG, SVG, WebP or JPEG'],
    ['<html><svg></svg></html>', 'is not a PNG, SVG, WebP or JPEG'],
    ['<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', 'is not a PNG, SVG, WebP or JPEG'],
    ['<svgx/>', 'is not a PNG, SVG, WebP or JPEG'],
    ['\x89PNG\r\n\x1a\n, and then nothing of a picture', 'is not a PNG, SVG, WebP or JPEG'],
    ['', 'is not a PNG, SVG, WebP or JPEG'],
    [Buffer.from(`${svg}\xff`, 'latin1'), 'is not a PNG, SVG, WebP or JPEG'],
    [`${svg}${' '.repeat(256 * 1024)}`, 'bytes; the maximum is 262144'],
  ])('%j is refused', (bytes, reason) => {
    const config = { logo: file('logo.svg', bytes), logo_dark: 'missing.png' };
    const place = { directory: folder, basePath: '' };
    const problems = (key: string) => ({
      problems: [
        { key: `${key}:logo`, message: expect.stringContaining(reason) as string },
        { key: `${key}:logo_dark`, message: expect.stringContaining('ENOENT') as string },
      ],
    });
    const own = getBranding(undefined, { ...place, application: { branding: config } });
    expect(own).toEqual(problems('branding'));
    const servers = getBranding(config, { ...place, application: {} });
    expect(servers).toEqual(problems('oauth_server:branding'));
  });

  test.each([
    '//evil.example/a.svg',
    'https://evil.example/a.svg',
    '/\\evil',
    'a.svg',
    '/a b',
    '/"onerror',
  ])('cannot have the path %j', (given) =>
    expect(brandingShape.branding.safeParse({ logo: { path: given } }).success).toBe(false),
  );

  test('must have an absolute path if the folder of the application is unknown', () => {
    const place = { directory: null, basePath: '', application: {} };
    expect(getBranding({ logo: 'logo.svg' }, place)).toEqual({
      problems: [{ key: 'oauth_server:branding:logo', message: 'must be an absolute path' }],
    });
  });

  test('of the application takes precedence over that of the server', () => {
    const place = { directory: folder, basePath: '/id' };
    const logo = { path: '/own.svg' };
    const other = { logo: { path: '/other.svg' } };
    expect(getBranding(other, { ...place, application: { branding: { logo } } })).toMatchObject({
      view: { logo: { src: '/own.svg' } },
    });
    expect(getBranding(other, { ...place, application: {} })).toMatchObject({
      view: { logo: { src: '/other.svg' } },
    });
  });

  /** Returns the branding of an application at `/id` with these settings. */
  const brandingOf = (config: BrandingConfig) =>
    getBranding(config, { directory: folder, basePath: '/id', application: {} });

  // @shows AS-39.8
  test('is served below base_path, at a URL that contains its version', () => {
    file('own.svg', svg);
    const found = brandingOf({ logo: 'own.svg' });
    expect(found).toMatchObject({
      view: { logo: { src: expect.stringMatching(/^\/id\/oauth\/branding\/logo\?v=[\w-]{16}$/) } },
      logos: [{ name: 'oauth_server_branding_logo', path: '/oauth/branding/logo' }],
    });
  });

  test('can have its own version for dark mode, or be only for dark mode', () => {
    const [logo, dark] = [{ path: '/logo.svg' }, { path: '/dark.svg' }];
    expect(brandingOf({ logo, logo_dark: dark })).toMatchObject({
      view: { logo: { src: '/logo.svg', dark: '/dark.svg' } },
    });
    expect(brandingOf({ logo })).toMatchObject({
      view: { logo: { src: '/logo.svg', dark: null } },
    });
    expect(brandingOf({ logo_dark: dark })).toMatchObject({
      view: { logo: { src: '/dark.svg', dark: null } },
    });
    expect(brandingOf({ accent: '#abc' })).toMatchObject({ view: { logo: null } });
  });

  test('shows the name of the application only if the settings say so', () => {
    const logo = { path: '/logo.svg' };
    expect(brandingOf({ logo })).toMatchObject({ view: { logo: { showsName: false } } });
    expect(brandingOf({ logo, logo_shows_name: true })).toMatchObject({
      view: { logo: { showsName: true } },
    });
  });

  test('does not exist without settings', () => {
    const place = { directory: '/', basePath: '', application: {} };
    expect(getBranding(undefined, place)).toBeNull();
    expect(getBranding({}, place)).toBeNull();
    expect(getBranding({ logo: undefined }, place)).toBeNull();
    expect(getBranding(undefined, { ...place, application: { branding: {} } })).toBeNull();
  });
});
