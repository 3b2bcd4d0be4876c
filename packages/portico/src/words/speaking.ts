import { ConfigurationError } from '@portico/sql';
import { Note } from '../http/note.ts';
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

const wishes = new Note<readonly string[]>('ui_locales');

/** Remembers the `ui_locales` of what a request is about, which its own URL need not name. */
export function noteWish(request: Request, uiLocales: readonly string[]): void {
  wishes.set(request, uiLocales);
}

/** Chooses the language of a page. No language is loaded but those that are switched on. */
export class Speaking {
  /** The tags of all languages, the default first; null unless they are switched on. */
  readonly locales: readonly string[] | null;
  /** The application's own messages, by language. */
  readonly #files: ReadonlyMap<string, Catalog>;
  /** The tags of all languages that could be switched on. */
  readonly #there: readonly string[];
  readonly #own: Catalog;
  readonly #loaded = new Map<string, Promise<Words>>();

  /** Throws a ConfigurationError that names every problem of `oauth_server:languages` and of the application's own files. */
  constructor({ languages = false, folder = null, own = {} }: SpeakingOptions = {}) {
    const files = readOwnMessages(folder, { ...ENGLISH, ...own });
    const there = [...new Set(['en', ...Object.keys(LANGUAGES), ...files.languages.keys()])];
    this.locales = languages === false ? null : languages === true ? there : canonical(languages);
    this.#files = files.languages;
    this.#there = there;
    this.#own = own;
    const unknown = (this.locales ?? []).filter((tag) => lookUp([tag], there) === null);
    const problems = [
      ...files.problems,
      ...unknown.map((tag) => ({
        key: 'oauth_server:languages',
        message: `${tag} is none of ${there.join(', ')}; write its messages to ${tag}.json${folder === null ? '' : ` in ${folder}`}`,
      })),
    ];
    if (problems.length > 0) throw new ConfigurationError(problems);
    // At once, as views are: a deployment may replace the files while this process serves (decision 22).
    for (const locale of this.locales ?? []) this.#words(locale).catch(() => this.#loaded.delete(locale));
  }

  /** The words for whoever sent a request: by `ui_locales`, then by `Accept-Language`, then those of the first language. */
  of(request: Request): Promise<Words> {
    if (this.locales === null) return this.#words('en');
    const wanted = [
      ...wishedLanguages(wishOf(request)),
      ...acceptedLanguages(request.headers.get('accept-language')),
    ];
    return this.#words(lookUp(wanted, this.locales) ?? this.locales[0] ?? 'en');
  }

  /** What a page in these words is answered with: `Content-Language` and `Vary`; nothing unless languages are switched on. */
  headers({ locale }: Words): Readonly<Record<string, string>> {
    return this.locales === null ? {} : { 'Content-Language': locale, Vary: 'Accept-Language' };
  }

  /** A path of this host with the `ui_locales` that came with a request, so that the next page speaks as this one does. */
  withWish(request: Request, path: string): string {
    const wish = this.locales === null ? '' : wishedLanguages(wishOf(request)).join(' ');
    if (wish === '' || !path.startsWith('/')) return path;
    return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ ui_locales: wish })}`;
  }

  #words(locale: string): Promise<Words> {
    const known = this.#loaded.get(locale) ?? this.#load(locale);
    this.#loaded.set(locale, known);
    return known;
  }

  async #load(locale: string): Promise<Words> {
    const messages: Messages[] = [];
    for (const tag of new Set([...widened(locale), lookUp([locale], this.#there) ?? 'en'])) {
      const catalogs: readonly (Catalog | undefined)[] = [this.#files.get(tag), await LANGUAGES[tag]?.()];
      for (const catalog of catalogs) if (catalog !== undefined) messages.push({ locale: tag, catalog });
    }
    return createWords(locale, messages, this.#own);
  }
}

function wishOf(request: Request): readonly string[] {
  return wishes.of(request) ?? (new URL(request.url).searchParams.get('ui_locales') ?? '').split(' ');
}

function canonical(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map((tag) => canonicalTag(tag) ?? tag))];
}
