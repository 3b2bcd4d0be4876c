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
 * Makes an entry load that file first. It runs after everything was linked, so nothing in an entry may import what Node 20 has
 * not: `node:sqlite` is asked for where it is needed. It stands on the first line, as the source map counts lines.
 */
export function checkNodeFirst(file: string): void {
  writeFileSync(file, `import '../node-version.cjs'; ${readFileSync(file, 'utf8')}`);
}
