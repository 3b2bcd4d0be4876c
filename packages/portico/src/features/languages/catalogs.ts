import type { CompleteCatalog } from '../../words/english.ts';

/**
 * Portico's languages beside English, by tag (BCP 47). Each is loaded only when it is switched on.
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
