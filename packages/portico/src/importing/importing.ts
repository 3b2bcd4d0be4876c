import { importClients } from './clients.ts';
import type { Importing, ImportingParts } from './contract.ts';
import { importSubjects } from './subjects.ts';

export function createImporting(parts: ImportingParts): Importing {
  return {
    clients: (records, options = {}) => importClients(parts, records, options),
    subjects: (records, options = {}) => importSubjects(parts, records, options),
  };
}
