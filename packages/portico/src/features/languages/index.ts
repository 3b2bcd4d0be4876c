import { defineFeature } from '../../feature.ts';
import { LANGUAGES } from './catalogs.ts';

/** The languages of the pages, beside English. */
export const languages = defineFeature({ name: 'languages', messages: LANGUAGES });
