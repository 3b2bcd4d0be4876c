import type { CompleteCatalog } from './english.ts';

/**
 * Portico's languages beside English, by tag (BCP 47). Each is loaded only when it is switched on.
 */
export const LANGUAGES: Readonly<Record<string, () => Promise<CompleteCatalog>>> = {
  de: async () => (await import('./languages/de.ts')).MESSAGES,
  fr: async () => (await import('./languages/fr.ts')).MESSAGES,
  es: async () => (await import('./languages/es.ts')).MESSAGES,
  pt: async () => (await import('./languages/pt.ts')).MESSAGES,
  ja: async () => (await import('./languages/ja.ts')).MESSAGES,
  'zh-Hans': async () => (await import('./languages/zh-hans.ts')).MESSAGES,
  ar: async () => (await import('./languages/ar.ts')).MESSAGES,
};
