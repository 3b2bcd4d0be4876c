import { ConfigurationError } from '../contracts/errors.ts';
import { createNote } from '../http/note.ts';
import { ENGLISH } from './english.ts';
import { acceptedLanguages, canonicalTag, lookUp, widened, wishedLanguages } from './language-ranges.ts';
import { LANGUAGES } from './languages.ts';
import type { Catalog } from './message.ts';
import { readOwnMessages } from './own-messages.ts';
import { createWords, type Messages, type Words } from './words.ts';

/** What an application says of the words of its pages. */
export interface SpeakingOptions {
  /** `false`: English alone; `true`: all languages that there are; or those of these tags, the first unless somebody asks for another. */
  readonly languages?: boolean | readonly string[];
  /** The folder of the application's own messages, `<tag>.json`; null for none. */
  readonly folder?: string | null;
  /** Texts that the configuration has, such as labels of scopes, by the keys by which the application's files translate them. */
  readonly own?: Readonly<Record<string, string>>;
}

/** Chooses the language of a page. */
export interface Speaking {
  /** The tags of all languages, the default first; null unless they are switched on. */
  readonly locales: readonly string[] | null;
  /** The words for whoever sent a request: by `ui_locales`, then by `Accept-Language`, then those of the first language. */
  of(request: Request): Promise<Words>;
  /** What a page in these words is answered with: `Content-Language` and `Vary`; nothing unless languages are switched on. */
  headers(words: Words): Readonly<Record<string, string>>;
  /** A path of this host with the `ui_locales` that came with a request, so that the next page speaks as this one does. */
  withWish(request: Request, path: string): string;
}

const wishes = createNote<readonly string[]>('ui_locales');

/** Remembers the `ui_locales` of what a request is about, which its own URL need not name. */
export function noteWish(request: Request, uiLocales: readonly string[]): void {
  wishes.set(request, uiLocales);
}

/**
 * The words of an application's pages. Throws a ConfigurationError that names every problem of `oauth_server:languages` and of the application's own
 * files. No language is loaded but those that are switched on.
 */
export function createSpeaking({
  languages = false,
  folder = null,
  own = {},
}: SpeakingOptions = {}): Speaking {
  const files = readOwnMessages(folder, { ...ENGLISH, ...own });
  const there = [...new Set(['en', ...Object.keys(LANGUAGES), ...files.languages.keys()])];
  const locales = languages === false ? null : languages === true ? there : canonical(languages);
  const unknown = (locales ?? []).filter((tag) => lookUp([tag], there) === null);
  const problems = [
    ...files.problems,
    ...unknown.map((tag) => ({
      key: 'oauth_server:languages',
      message: `${tag} is none of ${there.join(', ')}; write its messages to ${tag}.json${folder === null ? '' : ` in ${folder}`}`,
    })),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);

  const first = locales?.[0] ?? 'en';
  const loaded = new Map<string, Promise<Words>>();

  async function load(locale: string): Promise<Words> {
    const messages: Messages[] = [];
    for (const tag of new Set([...widened(locale), lookUp([locale], there) ?? 'en'])) {
      const catalogs: readonly (Catalog | undefined)[] = [files.languages.get(tag), await LANGUAGES[tag]?.()];
      for (const catalog of catalogs) if (catalog !== undefined) messages.push({ locale: tag, catalog });
    }
    return createWords(locale, messages, own);
  }

  function words(locale: string): Promise<Words> {
    const known = loaded.get(locale) ?? load(locale);
    loaded.set(locale, known);
    return known;
  }
  // At once, as views are: a deployment may replace the files while this process serves (decision 22).
  for (const locale of locales ?? []) words(locale).catch(() => loaded.delete(locale));

  const wishOf = (request: Request) =>
    wishes.of(request) ?? (new URL(request.url).searchParams.get('ui_locales') ?? '').split(' ');

  return {
    locales,
    of(request) {
      if (locales === null) return words('en');
      const wanted = [
        ...wishedLanguages(wishOf(request)),
        ...acceptedLanguages(request.headers.get('accept-language')),
      ];
      return words(lookUp(wanted, locales) ?? first);
    },
    headers: ({ locale }) =>
      locales === null ? {} : { 'Content-Language': locale, Vary: 'Accept-Language' },
    withWish(request, path) {
      const wish = locales === null ? '' : wishedLanguages(wishOf(request)).join(' ');
      if (wish === '' || !path.startsWith('/')) return path;
      return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ ui_locales: wish })}`;
    },
  };
}

function canonical(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map((tag) => canonicalTag(tag) ?? tag))];
}
