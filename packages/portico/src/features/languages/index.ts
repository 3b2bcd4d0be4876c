import { defineFeature } from '../../feature.ts';
import { LANGUAGES } from './catalogs.ts';

/** Adds languages for the pages, in addition to English. */
export const languages = defineFeature({ name: 'languages', messages: LANGUAGES });
