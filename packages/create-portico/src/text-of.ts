import { existsSync, readFileSync, statSync } from 'node:fs';
import { Failure } from './failure.ts';

/**
 * Returns the text of a file, or null if the file does not exist. Throws a `Failure` if the path is
 * not a file, for example a folder.
 */
export function textOf(file: string): string | null {
  if (!existsSync(file)) return null;
  if (statSync(file).isFile()) return readFileSync(file, 'utf8');
  throw new Failure(`${file} is not a file. Nothing was written.`);
}
