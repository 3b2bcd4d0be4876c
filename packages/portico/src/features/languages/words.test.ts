import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from './catalogs.ts';
import { tag } from '../../pages/markup.ts';
import type { ENGLISH } from '../../pages/english.ts';
import { createWords, ENGLISH_WORDS, told, type Words } from '../../pages/words.ts';

const { t, markup } = ENGLISH_WORDS;

async function wordsOf(locale: string): Promise<Words> {
  return createWords(locale, [{ locale, catalog: (await LANGUAGES[locale]?.()) ?? {} }]);
}

describe('a message', () => {
  test('uses the plural form of its language for a number', async () => {
    const seconds = (words: Words, count: number) => words.t('sign_in.slowed', { count });
    expect(seconds(ENGLISH_WORDS, 1)).toContain('in a second.');
    expect(seconds(ENGLISH_WORDS, 1200)).toContain('in 1,200 seconds.');
    const arabic = await wordsOf('ar');
    const forms = [1, 2, 3, 11, 100].map((count) => seconds(arabic, count));
    expect(forms[0]).toContain('ثانية واحدة');
    expect(forms[1]).toContain('ثانيتين');
    expect(forms[2]).toContain('ثوانٍ');
    expect(new Set(forms).size).toBe(5);
  });

  test('formats dates and lists for its language', async () => {
    const own = createWords('de', [{ locale: 'de', catalog: { 'error.request_id': 'Am {id}' } }]);
    expect(own.t('error.request_id', { id: new Date('2026-03-01T23:30:00Z') })).toBe(
      'Am 1. März 2026',
    );
    expect(own.t('error.request_id', { id: ['A', 'B', 'C'] })).toBe('Am A, B und C');
    expect(markup('error.request_id', { id: ['<a>', 'b'] })).toBe('Request id: &lt;a&gt; and b');
  });

  test('can contain elements between other texts, which stay in this order', () => {
    const id = [tag('bdi', '<a>'), '<b>'];
    expect(markup('error.request_id', { id })).toBe('Request id: <bdi>&lt;a&gt;</bdi>&lt;b&gt;');
  });

  test('throws an error for a missing placeholder value or an unknown key', () => {
    expect(() => t('consent.page')).toThrow(
      "The message 'consent.page' needs a value for {client}",
    );
    expect(() => t('consent.page', Object.create({ client: 'x' }) as { client: string })).toThrow(
      'needs a value',
    );
    for (const key of ['consent.nothing', 'constructor', '__proto__'])
      expect(() => t(key)).toThrow('There is no message');
  });

  test('that a language lacks comes from the wider language, then from English', () => {
    const words = createWords('de-AT', [
      { locale: 'de-AT', catalog: { 'consent.allow': 'Passt' } },
      { locale: 'de', catalog: { 'consent.allow': 'Zulassen', 'consent.deny': 'Ablehnen' } },
    ]);
    expect(['allow', 'deny', 'switch'].map((key) => words.t(`consent.${key}`))).toEqual([
      'Passt',
      'Ablehnen',
      'Not you?',
    ]);
  });

  test('from the configuration replaces the English one, but not that of a language', () => {
    const own = { 'consent.allow': 'Configured' };
    expect(createWords('en', [], own).t('consent.allow')).toBe('Configured');
    const catalog = { 'consent.allow': 'Zulassen' };
    expect(createWords('de', [{ locale: 'de', catalog }], own).t('consent.allow')).toBe('Zulassen');
  });

  test('of a page is translated, but not a text that is the same in every language', () => {
    expect(told(ENGLISH_WORDS, 'Portal (1)')).toBe('Portal (1)');
    const values = { server: 'Portal' };
    expect(told(ENGLISH_WORDS, { key: 'applications.back', values })).toBe('Back to Portal');
  });

  test('from the configuration is shown unchanged', () => {
    const words = createWords('en', [], { 'scope.a.label': 'Read {x} & <b>' });
    expect(words.t('scope.a.label')).toBe('Read {x} & <b>');
    expect(words.markup('scope.a.label')).toBe('Read {x} &amp; &lt;b&gt;');
  });

  test.each([
    ['en', 'If you continue,'],
    ['de', 'Wenn Sie fortfahren,'],
    ['fr', 'Si vous continuez,'],
    ['es', 'Si continúa,'],
    ['pt', 'Se você continuar,'],
    ['ja', '続行すると、'],
    ['zh-Hans', '如果继续，'],
    ['ar', 'إذا تابعت،'],
  ])(
    'that asks for confirmation does not claim that the action is done: %s',
    async (locale, condition) => {
      const words = await wordsOf(locale);
      for (const count of [1, 2, 3, 11, 100])
        expect(words.t('applications.confirm_all', { count }).startsWith(condition)).toBe(true);
    },
  );

  // @shows AS-38.6
  test('isolates inserted text in right-to-left languages', async () => {
    const arabic = await wordsOf('ar');
    expect(arabic.t('applications.back', { server: 'Portal (1)' })).toContain(
      '\u2068Portal (1)\u2069',
    );
    for (const english of [ENGLISH_WORDS, createWords('en', [])])
      expect(english.t('applications.back', { server: 'Portal (1)' })).toBe('Back to Portal (1)');
    expect(arabic.t('applications.back', { server: 7 })).not.toContain('\u2068');
  });
});

describe('the terms of terms.md are used in every language', () => {
  const rows = readFileSync(new URL('terms.md', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => /^`[a-z_.]+`$/.test(cells[9] ?? ''));
  const tags = ['de', 'fr', 'es', 'pt', 'ja', 'zh-Hans', 'ar'];

  test.each(rows.map((cells) => [cells[1], cells] as const))('%s', async (_, cells) => {
    const key = cells[9]?.slice(1, -1) as keyof typeof ENGLISH;
    for (const [index, tag] of tags.entries()) {
      const message = (await LANGUAGES[tag]?.())?.[key];
      const text = JSON.stringify(message).toLowerCase();
      for (const part of (cells[index + 2] ?? '').split(' … '))
        expect(text).toContain(part.toLowerCase());
    }
  });

  test('terms.md lists every language and at least 15 terms', () => {
    expect(rows.length).toBeGreaterThanOrEqual(15);
    expect(Object.keys(LANGUAGES).toSorted()).toEqual(tags.toSorted());
  });
});

describe('a message as HTML', () => {
  test('keeps the elements that it is given, and escapes everything else', () => {
    const client = tag('bdi', ['a<b', tag('wbr'), tag('strong', '"c"')], {
      class: 'x" onclick="y',
    });
    expect(markup('consent.title', { client, server: 'R&D' })).toBe(
      'Allow <bdi class="x&quot; onclick=&quot;y">a&lt;b<wbr><strong>&quot;c&quot;</strong></bdi> to use your R&amp;D account?',
    );
  });

  test('can contain elements without content, and with several attributes', () => {
    const server = tag('span', undefined, { class: 'a', id: 'b' });
    expect(markup('applications.back', { server })).toBe('Back to <span class="a" id="b"></span>');
  });

  // @shows AS-38.6
  test('cannot be changed by the content of a value', () => {
    const hostile = fc
      .array(
        fc.oneof(
          fc.constantFrom('<', '>', '"', "'", '&', '{client}', '{server}', '</bdi>', '$&'),
          fc.string(),
        ),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(hostile, hostile, (client, server) => {
        const html = markup('consent.title', { client: tag('bdi', client), server });
        const text = html.replace('<bdi>', '').replace('</bdi>', '');
        expect(text).not.toMatch(/[<>"']/);
        expect(text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      }),
    );
  });

  test('accepts only objects that were created as elements', () => {
    const forged = { toString: () => '<script>', html: '<script>' } as unknown as string;
    expect(() => markup('consent.page', { client: forged })).toThrow('not iterable');
  });

  test.each([
    ['script', {}],
    ['a', {}],
    ['bdi', { onclick: 'x' }],
    ['bdi', { style: 'x' }],
  ])('refuses to create the element %s with %j', (name, attributes) => {
    expect(() => tag(name as 'bdi', 'x', attributes as { class: string })).toThrow(
      'does not support',
    );
  });
});
