import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Bun and Deno say which Node they are like, and are none. */
const CHECK = `'use strict';
const { bun, deno, node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (bun === undefined && deno === undefined && (major < 24 || (major === 24 && minor < 7))) {
  throw new Error(\`Portico requires Node 24.7 or later; this is Node \${node}.\`);
}
`;

/** Writes the file that every entry loads before anything else. */
export function writeNodeVersion(folder: string): void {
  writeFileSync(path.join(folder, 'node-version.cjs'), CHECK);
}

/**
 * Makes an entry load that file first. It runs after everything was linked, so nothing in an entry
 * may import what Node 20 has not: `node:sqlite` is asked for where it is needed. It stands on the
 * first line, as the source map counts lines.
 */
export function checkNodeFirst(folder: string, module: string): void {
  const file = path.join(folder, `${module}.js`);
  writeFileSync(file, `import '${nodeVersionFrom(module)}'; ${readFileSync(file, 'utf8')}`);
}

/** How a module names that file: `./node-version.cjs`, or as many folders above. */
export function nodeVersionFrom(module: string): string {
  const above = module.split('/').length - 1;
  return `${above === 0 ? './' : '../'.repeat(above)}node-version.cjs`;
}
