import { defineFeature } from '../../feature.ts';
import { LANGUAGES } from './catalogs.ts';

/** Adds languages besides English to the pages. */
export const languages = defineFeature({ name: 'languages', messages: LANGUAGES });
