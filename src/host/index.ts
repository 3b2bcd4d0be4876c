export type { UserInterface, PersonReference } from './contracts.ts';
