import type { AddCommands } from 'portico';
import { addClientImport } from './client-import.ts';
import { addSubjectImport } from './subject-import.ts';

/** Adds the import commands. */
export const addImportCommands: AddCommands = (program, context) => {
  addClientImport(program, context);
  addSubjectImport(program, context);
};
