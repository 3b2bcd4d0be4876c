/** Adds the administrator's pages to a Portico server. */
export { administration } from './feature.ts';
export type { AdministrationConfig } from './config.ts';
