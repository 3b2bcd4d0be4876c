/** Brings clients, secrets and subjects of another OAuth server to Portico. */
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
