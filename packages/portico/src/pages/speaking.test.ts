import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogProblems } from './own-messages.ts';
import { noteWish, Speaking, type Catalogs } from './speaking.ts';

const catalogs: Catalogs = {
  de: async () => ({ 'consent.allow': 'Zulassen', 'consent.deny': 'Ablehnen' }),
  'zh-Hans': async () => ({ 'consent.allow': '允许' }),
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-speaking-'));
  await writeFile(path.join(folder, 'DE-at.json'), JSON.stringify({ 'consent.allow': 'Passt' }));
  await writeFile(path.join(folder, 'de.txt'), 'not a message file');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const asking = (uiLocales: string | null, accepted?: string): Request => {
  const query = uiLocales === null ? '' : `?${new URLSearchParams({ ui_locales: uiLocales })}`;
  const headers = accepted === undefined ? {} : { 'Accept-Language': accepted };
  return new Request(`https://portal.example/page${query}`, { headers });
};

describe('pages without other languages', () => {
  // @shows AS-38.3
  test('are in English, without headers, and links are unchanged', async () => {
    for (const speaking of [new Speaking(), new Speaking({ languages: false, catalogs, folder })]) {
      expect(speaking.locales).toBe(null);
      const words = await speaking.of(asking('de', 'de'));
      expect(words.locale).toBe('en');
      expect(speaking.headers(words)).toEqual({});
      expect(speaking.withWish(asking('de'), '/next')).toBe('/next');
    }
  });
});

describe('pages in several languages', () => {
  // @shows AS-38.1
  test('are in all languages with messages, or only in those that are listed', () => {
    expect(new Speaking({ languages: true, catalogs, folder }).locales).toEqual([
      'en',
      'de',
      'zh-Hans',
      'de-AT',
    ]);
    const listed = ['DE-at', 'de-AT', 'zh-cn', 'en'];
    expect(new Speaking({ languages: listed, catalogs }).locales).toEqual(['de-AT', 'zh-CN', 'en']);
    expect(new Speaking({ languages: true }).locales).toEqual(['en']);
    const missing = path.join(folder, 'missing');
    expect(new Speaking({ languages: true, folder: missing }).locales).toEqual(['en']);
  });

  test('are refused in a language without messages', () => {
    const missing =
      'oauth_server:languages: contains nl, but there are messages only for en, de, zh-Hans';
    expect(() => new Speaking({ languages: ['de', 'nl'], catalogs })).toThrow(
      `${missing}; write the messages for nl to nl.json`,
    );
    expect(() => new Speaking({ languages: ['nl'], catalogs, folder })).toThrow(
      `, de-AT; write the messages for nl to nl.json in ${folder}`,
    );
  });

  // @shows AS-38.2
  test('are in the first wanted language that there is, or in the first configured one', async () => {
    const speaking = new Speaking({ languages: ['de', 'en'], catalogs });
    const chosen = async (request: Request) => (await speaking.of(request)).locale;
    expect(await chosen(asking('en', 'de'))).toBe('en');
    expect(await chosen(asking('nl en', 'de'))).toBe('en');
    expect(await chosen(asking('nl', 'en'))).toBe('en');
    expect(await chosen(asking('nl', 'nl'))).toBe('de');
    expect(await chosen(asking(null))).toBe('de');
    const noted = asking('de', 'de');
    noteWish(noted, ['en']);
    expect(await chosen(noted)).toBe('en');
    const none = new Speaking({ languages: [], catalogs });
    expect((await none.of(asking('de'))).locale).toBe('en');
    const words = await speaking.of(asking('de'));
    expect(speaking.headers(words)).toEqual({
      'Content-Language': 'de',
      Vary: 'Accept-Language',
    });
  });

  // @shows AS-38.2
  test('keep the requested language in links to this host', () => {
    const speaking = new Speaking({ languages: true, catalogs });
    const link = (request: Request, target: string) => speaking.withWish(request, target);
    expect(link(asking('de-at nl'), '/next')).toBe('/next?ui_locales=de-AT+nl');
    expect(link(asking('de'), '/next?a=b')).toBe('/next?a=b&ui_locales=de');
    expect(link(asking('de'), 'https://other.example/')).toBe('https://other.example/');
    for (const none of [null, '', '*']) expect(link(asking(none, 'de'), '/next')).toBe('/next');
  });

  // @shows AS-38.4
  test('take a message from the own file, then from the wider language, then from English', async () => {
    const own = { 'scope.a.label': 'Configured' };
    const speaking = new Speaking({ languages: ['de-AT', 'zh-CN'], catalogs, folder, own });
    const said = async (locale: string) => {
      const { t } = await speaking.of(asking(locale));
      return ['consent.allow', 'consent.deny', 'consent.switch', 'scope.a.label'].map((key) =>
        t(key),
      );
    };
    expect(await said('de-AT')).toEqual(['Passt', 'Ablehnen', 'Not you?', 'Configured']);
    expect((await said('zh-CN'))[0]).toBe('允许');
  });

  test('load only languages that are turned on, once, and again if this failed', async () => {
    const loaded: string[] = [];
    const loading = (tag: string, problems = 0) => {
      let left = problems;
      return async () => {
        loaded.push(tag);
        left -= 1;
        if (left >= 0) throw new Error('it cannot be read now');
        return { 'consent.allow': tag };
      };
    };
    const counted = { de: loading('de', 3), fr: loading('fr'), es: loading('es') };
    const speaking = new Speaking({ languages: ['en', 'de', 'fr'], catalogs: counted });
    const allow = async (locale: string) => (await speaking.of(asking(locale))).t('consent.allow');
    for (let count = 0; count < 3; count += 1)
      await expect(allow('de')).rejects.toThrow('it cannot be read now');
    expect([await allow('fr'), await allow('fr')]).toEqual(['fr', 'fr']);
    expect([await allow('de'), await allow('de')]).toEqual(['de', 'de']);
    expect(loaded.toSorted()).toEqual(['de', 'de', 'de', 'de', 'fr']);
  });
});

describe('the messages in a file', () => {
  const known = {
    one: 'Hello {who}',
    many: { one: '{who}: {count} thing', other: '{who}: {count} things' },
  };

  // @shows AS-38.4
  test.each<[string, unknown, readonly string[]]>([
    ['a text', { one: '{who}!' }, []],
    ['a text in place of plural forms', { many: '{count} {who}' }, []],
    ['plural forms', { many: { one: '{who}', few: '{who}', other: '{who} {count}' } }, []],
    ['no message', {}, []],
    [
      'a key of every object',
      { constructor: 'x' },
      ['constructor: there is no message with this key'],
    ],
    [
      'another plural category',
      { many: { some: '{who}', other: '{who} {count}' } },
      [expect.stringMatching(/^many: must be a string, or an object/) as string],
    ],
    [
      'a form that is no text',
      { many: { one: 1, other: '{who} {count}' } },
      [expect.stringMatching(/^many: must be a string/) as string],
    ],
    ['null', { one: null }, [expect.stringMatching(/^one: must be a string/) as string]],
    ['a list', { one: ['{who}'] }, [expect.stringMatching(/^one: must be a string/) as string]],
    [
      'forms that lack placeholders',
      { many: { one: 'One', two: 'Two', other: '{who}' } },
      ['many: the placeholder {count} is missing', 'many: the placeholder {who} is missing'],
    ],
    [
      'other placeholders, each twice',
      { many: { one: '{who} {what}', other: '{what} {who} {count} {when}' } },
      [
        'many: the placeholder {what} does not exist in this message',
        'many: the placeholder {when} does not exist in this message',
      ],
    ],
  ])('are checked: %s', (_, messages, problems) => {
    expect(catalogProblems(messages as Record<string, unknown>, known)).toEqual(problems);
  });
});
