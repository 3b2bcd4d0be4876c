import type { AddCommands } from 'portico';
import { addClientImport } from './client-import.ts';
import { addSubjectImport } from './subject-import.ts';

/** The commands that import. */
export const addImportCommands: AddCommands = (program, context) => {
  addClientImport(program, context);
  addSubjectImport(program, context);
};
