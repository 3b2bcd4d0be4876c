/** Imports clients, secrets and subjects from another OAuth server. */
export { importing } from './feature.ts';
export type { ImportingConfig } from './config.ts';
export type {
  ClientImport,
  ClientImportOptions,
  ImportedClient,
  ImportedRecord,
  Importing,
  ImportOptions,
  SubjectImport,
} from './contract.ts';
