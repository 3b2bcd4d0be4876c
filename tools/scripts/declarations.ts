// What is left to do with the declarations that TypeScript wrote: they name each other as every TypeScript reads it, say that
// they need Node's types, and CommonJS gets its own beside those of each entry.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Declarations name each other by the files that they stand for, which older compilers ask for. An entry imports what adds to its types from
 * another file, which nothing else leads to.
 */
export function finishDeclarations(folder: string, entries: readonly string[]): void {
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const named = text.replaceAll(/((?:from|import\(|declare module)\s*'\.\.?\/[^']*)\.ts'/g, "$1.js'");
    const entry = entries.find((name) => path.normalize(`${name}/index.d.ts`) === path.normalize(file));
    if (entry === undefined) writeFileSync(path.join(folder, file), named);
    else
      writeFileSync(
        path.join(folder, file),
        `/// <reference types="node" />\n${named}${additions(folder, entry)}`,
      );
  }
}

/** Imports of the declarations below an entry that add to others. */
function additions(folder: string, entry: string): string {
  return globSync('**/*.d.ts', { cwd: path.join(folder, entry) })
    .filter((file) => /^declare module '\./m.test(readFileSync(path.join(folder, entry, file), 'utf8')))
    .toSorted()
    .map((file) => `import './${file.replaceAll(path.sep, '/').replace(/\.d\.ts$/, '.js')}';\n`)
    .join('');
}

/**
 * An entry for `require`: the module itself, which Node hands out to CommonJS as it is, so that there is only ever one. Its
 * types are those of the module too. A module's types reach CommonJS by `resolution-mode`; its values are named one by one.
 */
export function writeCommonJs(folder: string, entry: string, values: readonly string[]): void {
  writeFileSync(
    path.join(folder, entry, 'index.cjs'),
    "require('../node-version.cjs');\nmodule.exports = require('./index.js');\n",
  );
  if (!existsSync(path.join(folder, entry, 'index.d.ts'))) return;
  const module = "'./index.js' with { 'resolution-mode': 'import' };";
  const alsoTypes = namesOfBoth(folder);
  const lines = values.flatMap((name) => [
    `export declare const ${name}: typeof module.${name};`,
    ...(alsoTypes.has(name) ? [`export type ${name} = module.${name};`] : []),
  ]);
  const head = [`import type * as module from ${module}`, `export type * from ${module}`];
  writeFileSync(path.join(folder, entry, 'index.d.cts'), `${[...head, ...lines].join('\n')}\n`);
}

/** Names that are a value and a type at once: classes, and constants beside a type of the same name. */
function namesOfBoth(folder: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const types = namesAfter(text, 'type|interface');
    for (const name of namesAfter(text, 'class')) found.add(name);
    for (const name of namesAfter(text, 'const|function')) if (types.has(name)) found.add(name);
  }
  return found;
}

function namesAfter(text: string, keywords: string): ReadonlySet<string> {
  const declared = text.matchAll(new RegExp(`^export (?:declare )?(?:${keywords}) (\\w+)`, 'gm'));
  return new Set([...declared].map(([, name = '']) => name));
}
