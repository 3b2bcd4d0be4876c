import path from 'node:path';
import { builtInFolder } from 'portico/extension';
import { EMBEDDED_VIEWS } from './embedded-views.ts';

/** The folder that contains the kit's own views. */
export const KIT_VIEWS = builtInFolder(
  'kit:views',
  () => path.join(import.meta.dirname, 'views'),
  EMBEDDED_VIEWS,
);
