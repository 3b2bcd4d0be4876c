// Completes the declarations that TypeScript wrote. Their imports must work with every version of
// TypeScript, they must say that they need Node's types, and each entry needs separate declarations
// for CommonJS.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { nodeVersionFrom } from './node-version.ts';
import { ROOT, type Entry } from './packages.ts';

/**
 * Keeps only the declarations that an entry needs. They import each other by file names, as older
 * compilers require.
 */
export function finishDeclarations(folder: string, entries: readonly Entry[]): void {
  const first = entries.map(({ module }) => path.join(folder, `${module}.d.ts`));
  const [main] = first;
  const needed = new Set(first);
  // No file imports a file that extends the types of another file, so add it here.
  for (const file of addingTo(folder)) {
    needed.add(file);
    if (main !== undefined)
      appendFileSync(
        main,
        `import './${path
          .relative(folder, file)
          .split(path.sep)
          .join('/')
          .replace(/\.d\.ts$/, '.js')}';\n`,
      );
  }
  for (const file of needed) {
    const named = withTypesOfZod(folder, file, readFileSync(file, 'utf8')).replaceAll(
      RELATIVE,
      '$1.js',
    );
    for (const [, , to = ''] of named.matchAll(NAMED)) {
      const target = path.join(path.dirname(file), `${to}.d.ts`);
      if (existsSync(target)) needed.add(target);
    }
    const isEntry = first.includes(file);
    writeFileSync(file, isEntry ? `/// <reference types="node" />\n${named}` : named);
  }
  for (const file of globSync('**/*.d.ts', { cwd: folder }).map((each) => path.join(folder, each)))
    if (!needed.has(file)) rmSync(file);
}

/**
 * Copies zod's types into a folder `zod`, with their licence, because Portico's code includes zod.
 * An application then does not need to install zod, and the types are those of the bundled version.
 */
function withTypesOfZod(folder: string, file: string, text: string): string {
  if (text.search(OF_ZOD) === -1) return text;
  const types = path.join(folder, 'zod');
  if (!existsSync(types)) {
    for (const each of globSync(
      ['LICENSE', 'index.d.ts', 'v4/{core,classic}/*.d.ts', 'v4/locales/index.d.ts'],
      { cwd: ZOD },
    )) {
      mkdirSync(path.dirname(path.join(types, each)), { recursive: true });
      copyFileSync(path.join(ZOD, each), path.join(types, each));
    }
    writeFileSync(path.join(types, 'v4', 'locales', 'index.d.ts'), 'export {};\n');
  }
  const to = path.relative(path.dirname(file), types).split(path.sep).join('/');
  const name = `'${to.startsWith('.') ? to : `./${to}`}/index.js'`;
  return text.replaceAll(OF_ZOD, `$1${name}`);
}

const ZOD = path.join(ROOT, 'node_modules', 'zod');
const OF_ZOD = /(from |import\()(?:'zod'|"zod")/g;

/** Returns the declarations that extend those of another file. */
function addingTo(folder: string): readonly string[] {
  return globSync('**/*.d.ts', { cwd: folder })
    .toSorted()
    .map((file) => path.join(folder, file))
    .filter((file) => /^declare module '\./m.test(readFileSync(file, 'utf8')));
}

const RELATIVE = /((?:from|import\(|declare module)\s*['"]\.\.?\/[^'"]*)\.ts(?=['"])/g;
const NAMED = /(from|import\()\s*['"](\.\.?\/[^'"]*)\.js['"]/g;

/**
 * Writes an entry for `require`. It returns the module itself, so there is only ever one copy. Node
 * can pass a module to CommonJS. The types are also those of the module: they reach CommonJS
 * through `resolution-mode`, and values are named individually.
 */
export function writeCommonJs(
  folder: string,
  { module: entry }: Entry,
  values: readonly string[],
  types: ReadonlyMap<string, string>,
): void {
  const own = `./${path.basename(entry)}.js`;
  const file = path.join(folder, entry);
  writeFileSync(
    `${file}.cjs`,
    `require('${nodeVersionFrom(entry)}');\nmodule.exports = require('${own}');\n`,
  );
  if (!existsSync(`${file}.d.ts`)) return;
  const module = `'${own}' with { 'resolution-mode': 'import' };`;
  const lines = values.flatMap((name) => {
    const parameters = types.get(name);
    return [
      `export declare const ${name}: typeof module.${name};`,
      ...(parameters === undefined
        ? []
        : [`export type ${name}${parameters} = module.${name}${parameters};`]),
    ];
  });
  const head = [`import type * as module from ${module}`, `export type * from ${module}`];
  writeFileSync(`${file}.d.cts`, `${[...head, ...lines].join('\n')}\n`);
}

/**
 * Returns the names in all packages that are both a value and a type. These are classes, with their
 * type parameters such as `<Key, Value>`, and constants with a type of the same name.
 */
export function namesOfBoth(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const types = namesAfter(text, 'type|interface');
    for (const [name, parameters] of namesAfter(text, 'class')) found.set(name, parameters);
    for (const [name] of namesAfter(text, 'const|function'))
      if (types.has(name)) found.set(name, '');
  }
  return found;
}

function namesAfter(text: string, keywords: string): ReadonlyMap<string, string> {
  const declared = text.matchAll(
    new RegExp(`^export (?:declare )?(?:abstract )?(?:${keywords}) (\\w+)(<[\\w, ]+>)?`, 'gm'),
  );
  return new Map([...declared].map(([, name = '', parameters = '']) => [name, parameters]));
}
