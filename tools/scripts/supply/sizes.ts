// Measures how many bytes a package takes on disk.
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Installed } from './lock.ts';

/**
 * Returns the bytes of a package's own files, without the packages inside it.
 *
 * @throws {Error} When it is not installed.
 */
export function ownBytes(root: string, { folder }: Pick<Installed, 'folder'>): number {
  const start = path.join(root, folder);
  if (!existsSync(start)) throw new Error(`${folder} is not installed: npm ci`);
  return bytesBelow(start);
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .map((entry) => path.join(folder, entry.name))
    .map((file) => {
      const found = lstatSync(file);
      return found.isDirectory() ? bytesBelow(file) : found.size;
    })
    .reduce((sum, size) => sum + size, 0);
}

/** Formats a size, with one decimal for megabytes: `0.4 MB`, `96 KB`. */
export function sizeText(bytes: number): string {
  return bytes >= 999_500 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1000)} KB`;
}
