import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The folder for pages that a script writes completely. Git ignores it, and tools/site/build.ts
 * writes the pages again.
 */
const FOLDER = path.join('docs', 'generated');

export function writePage(name: string, markdown: string): void {
  const file = path.join(FOLDER, `${name}.md`);
  const root = path.join(import.meta.dirname, '..', '..');
  mkdirSync(path.join(root, FOLDER), { recursive: true });
  writeFileSync(path.join(root, file), markdown);
  process.stdout.write(`${file}\n`);
}
