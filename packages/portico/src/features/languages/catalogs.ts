import type { CompleteCatalog } from '../../pages/english.ts';

/**
 * The languages besides English, by language tag (BCP 47). Portico loads a language only if it is
 * turned on.
 *
 * To add a language:
 *
 * 1. Write its catalog file, and list it here.
 * 2. Add its column to the tables in `terms.md`.
 * 3. In `words.test.ts`, add its tag to the list of tags, and increase the index of the last
 *    column.
 * 4. Add it to `docs/pages.md` and `test/languages.test.ts`, which list all languages.
 */
export const LANGUAGES: Readonly<Record<string, () => Promise<CompleteCatalog>>> = {
  de: async () => (await import('./de.ts')).MESSAGES,
  fr: async () => (await import('./fr.ts')).MESSAGES,
  es: async () => (await import('./es.ts')).MESSAGES,
  pt: async () => (await import('./pt.ts')).MESSAGES,
  ja: async () => (await import('./ja.ts')).MESSAGES,
  'zh-Hans': async () => (await import('./zh-hans.ts')).MESSAGES,
  ar: async () => (await import('./ar.ts')).MESSAGES,
};
