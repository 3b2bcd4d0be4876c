import type { CompleteCatalog } from './english.ts';

type Load = () => Promise<CompleteCatalog>;

/** The languages that Portico brings beside English, each loaded where it is switched on. */
export const LANGUAGES: Readonly<Record<string, Load>> = {};
