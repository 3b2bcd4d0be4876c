/** The administrator's pages of a Portico server. */
export { administration } from './feature.ts';
export type { AdministrationConfig } from './config.ts';
