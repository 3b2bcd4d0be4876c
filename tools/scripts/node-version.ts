import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Bun and Deno report a version of Node, but they are not Node. */
const CHECK = `'use strict';
const { bun, deno, node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (bun === undefined && deno === undefined && (major < 24 || (major === 24 && minor < 7))) {
  throw new Error(\`Portico requires Node 24.7 or later; this is Node \${node}.\`);
}
`;

/** Writes the file that every entry loads before all other code. */
export function writeNodeVersion(folder: string): void {
  writeFileSync(path.join(folder, 'node-version.cjs'), CHECK);
}

/**
 * Makes an entry load that file first. The file runs only after all imports are linked. Therefore
 * no entry may import a module that Node 20 does not have: `node:sqlite` is loaded where it is
 * needed. The import is on the first line, so that the lines of the source map stay correct.
 */
export function checkNodeFirst(folder: string, module: string): void {
  const file = path.join(folder, `${module}.js`);
  writeFileSync(file, `import '${nodeVersionFrom(module)}'; ${readFileSync(file, 'utf8')}`);
}

/**
 * Returns the path of that file for a module: `./node-version.cjs`, or with `../` for each folder.
 */
export function nodeVersionFrom(module: string): string {
  const above = module.split('/').length - 1;
  return `${above === 0 ? './' : '../'.repeat(above)}node-version.cjs`;
}
