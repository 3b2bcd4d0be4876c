import type { AddCommands } from 'portico';
import { addClientImport } from './client-import.ts';
import { addSubjectImport } from './subject-import.ts';

/** Adds the commands that import clients and subjects. */
export const addImportCommands: AddCommands = (program, context) => {
  addClientImport(program, context);
  addSubjectImport(program, context);
};
