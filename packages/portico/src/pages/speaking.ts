import { ConfigurationError } from '@portico/sql';
import { Note } from '../http/note.ts';
import { ENGLISH } from './english.ts';
import {
  acceptedLanguages,
  canonicalTag,
  lookUp,
  widened,
  wishedLanguages,
} from './language-ranges.ts';
import type { Catalog } from './message.ts';
import { readOwnMessages } from './own-messages.ts';
import { createWords, type Messages, type Words } from './words.ts';

/** Loads the messages of each language, by tag (BCP 47). Only languages that are on are loaded. */
export type Catalogs = Readonly<Record<string, () => Promise<Catalog>>>;

export interface SpeakingOptions {
  /**
   * The languages of the pages:
   *
   * - `false`: only English.
   * - `true`: all available languages.
   * - A list of tags: only these languages. The first one is the default.
   */
  readonly languages?: boolean | readonly string[];
  /**
   * The folder with the application's messages: one file `<tag>.json` per language. Null without
   * such a folder.
   */
  readonly folder?: string | null;
  /**
   * Texts from the configuration, for example scope labels, by message key. The application's files
   * can translate them.
   */
  readonly own?: Readonly<Record<string, string>>;
  /** The languages without the application's files. English is always available. */
  readonly catalogs?: Catalogs;
}

const wishes = new Note<readonly string[]>('ui_locales');

/** Applies the `ui_locales` of an earlier request to a request whose URL does not contain them. */
export function noteWish(request: Request, uiLocales: readonly string[]): void {
  wishes.set(request, uiLocales);
}

/** Chooses the language of each page. */
export class Speaking {
  /** All languages that are on, with the default first. Null if languages are off. */
  readonly locales: readonly string[] | null;
  /** The application's messages, by language tag. */
  readonly #files: ReadonlyMap<string, Catalog>;
  /** The tags of all languages with messages. */
  readonly #there: readonly string[];
  readonly #own: Catalog;
  readonly #catalogs: Catalogs;
  readonly #loaded = new Map<string, Promise<Words>>();

  /** Throws a ConfigurationError with all problems of `oauth_server:languages` and the files. */
  constructor({ languages = false, folder = null, own = {}, catalogs = {} }: SpeakingOptions = {}) {
    const files = readOwnMessages(folder, { ...ENGLISH, ...own });
    const there = [...new Set(['en', ...Object.keys(catalogs), ...files.languages.keys()])];
    this.locales = languages === false ? null : languages === true ? there : canonical(languages);
    this.#files = files.languages;
    this.#there = there;
    this.#own = own;
    this.#catalogs = catalogs;
    const unknown = (this.locales ?? []).filter((tag) => lookUp([tag], there) === null);
    const problems = [
      ...files.problems,
      ...unknown.map((tag) => ({
        key: 'oauth_server:languages',
        message:
          `contains ${tag}, but there are messages only for ${there.join(', ')}; write the ` +
          `messages for ${tag} to ${tag}.json${folder === null ? '' : ` in ${folder}`}`,
      })),
    ];
    if (problems.length > 0) throw new ConfigurationError(problems);
    // Load the languages now. A deployment may replace their files while this process runs
    // (decision 22). Views are loaded early for the same reason.
    for (const locale of this.locales ?? []) void this.#words(locale);
  }

  /**
   * Returns the texts for a request. Tries the languages in `ui_locales`, then in
   * `Accept-Language`, then the default language.
   */
  of(request: Request): Promise<Words> {
    if (this.locales === null) return this.#words('en');
    const wanted = [
      ...wishedLanguages(readWish(request)),
      ...acceptedLanguages(request.headers.get('accept-language')),
    ];
    return this.#words(lookUp(wanted, this.locales) ?? this.locales[0] ?? 'en');
  }

  /**
   * Returns `Content-Language` and `Vary` for a page. Returns an empty object if languages are off.
   */
  headers({ locale }: Words): Readonly<Record<string, string>> {
    return this.locales === null ? {} : { 'Content-Language': locale, Vary: 'Accept-Language' };
  }

  /**
   * Adds the request's `ui_locales` to a path on this host, so the next page has the same language.
   */
  withWish(request: Request, path: string): string {
    const wish = this.locales === null ? '' : wishedLanguages(readWish(request)).join(' ');
    if (wish === '' || !path.startsWith('/')) return path;
    return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ ui_locales: wish })}`;
  }

  #words(locale: string): Promise<Words> {
    const known = this.#loaded.get(locale);
    if (known !== undefined) return known;
    const loading = this.#load(locale);
    this.#loaded.set(locale, loading);
    // Forget a language that failed to load, so the next request tries again.
    loading.catch(() => this.#loaded.delete(locale));
    return loading;
  }

  async #load(locale: string): Promise<Words> {
    const messages: Messages[] = [];
    for (const tag of new Set([...widened(locale), lookUp([locale], this.#there) ?? 'en'])) {
      const catalogs: readonly (Catalog | undefined)[] = [
        this.#files.get(tag),
        await this.#catalogs[tag]?.(),
      ];
      for (const catalog of catalogs)
        if (catalog !== undefined) messages.push({ locale: tag, catalog });
    }
    return createWords(locale, messages, this.#own);
  }
}

function readWish(request: Request): readonly string[] {
  return (
    wishes.of(request) ?? (new URL(request.url).searchParams.get('ui_locales') ?? '').split(' ')
  );
}

function canonical(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map((tag) => canonicalTag(tag) ?? tag))];
}
