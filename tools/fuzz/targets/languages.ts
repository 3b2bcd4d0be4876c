import { prefersPage } from '../../../packages/portico/src/http/accept.ts';
import { acceptsByName, readMediaType } from '../../../packages/portico/src/http/media-types.ts';
import { readHint, sentHints } from '../../../packages/portico/src/authorization/sign-in-hints.ts';
import { createParameters } from '../../../packages/portico/src/parameters.ts';
import {
  acceptedLanguages,
  canonicalTag,
  getDirection,
  lookUp,
  widened,
  wishedLanguages,
} from '../../../packages/portico/src/pages/language-ranges.ts';
import { LANGUAGES } from '../../../packages/portico/src/features/languages/catalogs.ts';
import { Speaking } from '../../../packages/portico/src/pages/speaking.ts';
import { hold, type Target } from '../target.ts';

const THERE = ['en', 'de', 'zh-Hans', 'pt-BR', 'ar'];

/**
 * A second implementation of RFC 9110 section 12.4.2: whether a range names this type. It parses
 * the header differently from the sources.
 */
function names(accept: string, type: string): boolean {
  const ranges = accept.match(/(?:"(?:\\.|[^"\\])*(?:"|\\?$)|[^,"])+/gs) ?? [];
  return ranges.some((range) => {
    const [name = '', ...parameters] = range.match(/(?:"(?:\\.|[^"\\])*(?:"|\\?$)|[^;"])+/gs) ?? [];
    const before = range.trimStart().startsWith(';') ? '' : name;
    return (
      before.trim().toLowerCase() === type &&
      !parameters.some((each) => /^\s*q=0(?:\.0{0,3})?\s*$/i.test(each))
    );
  });
}

export const target: Target = {
  about: 'ui_locales, login_hint, Accept-Language, Accept, Content-Type',
  seeds: [
    'de-AT,de;q=0.9,en;q=0.8,*;q=0.1',
    'zh-TW zh-CN en',
    'x-klingon',
    'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
    'application/json, text/event-stream',
    'application/json;a="x,y;q=0";q=0',
    'ada@example.com',
    'en-a-bbb-x-a-ccc',
    'de-Latn-DE-1996',
    'sl-rozaj-biske-1994',
    'application/json; charset=utf-8',
  ],
  dictionary: [
    'de',
    'en-US',
    'zh-Hans',
    'zh-Hant-TW',
    '*',
    ';q=',
    '0.5',
    '1.000',
    'q=0',
    ', ',
    ' ',
    '-',
    'x-',
    '-u-ca-',
    'text/html',
    'application/json',
    'text/event-stream',
    '"',
    '\\',
    '\u202E',
    '@',
    'art-lojban',
    'i-klingon',
    'i-default',
  ],
  start() {
    const speaking = new Speaking({ languages: true, catalogs: LANGUAGES });
    return async (input) => {
      const text = input.toString('utf8');
      for (const tags of [acceptedLanguages(text), wishedLanguages(text.split(' '))]) {
        hold(tags.length <= 20, 'too many languages are read');
        for (const tag of tags) {
          hold(
            canonicalTag(tag) === tag && Intl.getCanonicalLocales(tag)[0] === tag,
            'a tag is not in its canonical form',
          );
          hold(['ltr', 'rtl'].includes(getDirection(tag)), 'a language has no direction');
          hold(
            widened(tag).every((each) => tag === each || tag.startsWith(`${each}-`)),
            'a wider tag is none',
          );
        }
        const found = lookUp(tags, THERE);
        hold(found === null || THERE.includes(found), 'a language was found that is not there');
      }
      const form = createParameters(new URLSearchParams({ ui_locales: text, login_hint: text }));
      for (const [name, value] of sentHints(form, ['login_hint', 'ui_locales'])) {
        hold(value === text && readHint(form, name as 'ui_locales') === text, 'a hint was changed');
        hold(
          !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(value) && value.length <= 254,
          'a hint that nobody can see was taken',
        );
      }
      const type = readMediaType(text);
      hold(type === readMediaType(type) && !type.includes(';'), 'a media type has two forms');
      const accept = input.toString('latin1');
      for (const each of ['application/json', 'text/event-stream']) {
        if (!/[^\x20-\x7E]/.test(accept))
          hold(
            acceptsByName(accept, each) === names(accept, each),
            'a media type is accepted in another way',
          );
      }
      hold(typeof prefersPage(accept) === 'boolean', 'nobody knows what is preferred');
      let request: Request;
      try {
        request = new Request(
          `https://app.example/login?${new URLSearchParams({ ui_locales: text })}`,
          {
            headers: { 'Accept-Language': accept },
          },
        );
      } catch {
        return;
      }
      const words = await speaking.of(request);
      hold(
        speaking.locales?.includes(words.locale) === true,
        'a page speaks a language that is not there',
      );
      const path = speaking.withWish(request, '/login?x=1');
      hold(
        /^\/login\?x=1(?:&ui_locales=[A-Za-z0-9+-]+)?$/.test(path),
        'the next page is another one',
      );
    };
  },
};
