import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from './errors.ts';

/**
 * Creates a folder and its missing parents. Does not use Node's `recursive` option, because it
 * would never return for a missing folder below /proc. This function throws there.
 */
export function makeFolders(folder: string, mode?: number): void {
  try {
    make(folder, mode);
  } catch (error) {
    const around = path.dirname(folder);
    if (!hasCode(error, 'ENOENT') || around === folder) throw error;
    makeFolders(around, mode);
    make(folder, mode);
  }
}

function make(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
