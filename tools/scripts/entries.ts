// What the package offers: every folder of `src` that has an `index.ts`, under its own name. package.json says so in three
// places; the build writes them, so that a new entry is a new folder and nothing else.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The names of the entries: `portico/<name>`. */
export function entriesOf(root: string): readonly string[] {
  return globSync('src/*/index.ts', { cwd: root })
    .map((file) => path.basename(path.dirname(file)))
    .toSorted();
}

/**
 * What package.json has to say of them. `require` leads to a stub that requires the one module that there is: Node and the
 * types of CommonJS ask for a file of their own kind. `typesVersions` is for `moduleResolution: node10`, which reads no exports.
 */
export function manifestParts(entries: readonly string[]) {
  const targets = entries.map((name) => [
    `./${name}`,
    {
      require: { types: `./dist/${name}/index.d.cts`, default: `./dist/${name}/index.cjs` },
      default: { types: `./dist/${name}/index.d.ts`, default: `./dist/${name}/index.js` },
    },
  ]);
  return {
    exports: { ...Object.fromEntries(targets), './package.json': './package.json' } as Record<
      string,
      unknown
    >,
    typesVersions: { '*': Object.fromEntries(entries.map((name) => [name, [`./dist/${name}/index.d.ts`]])) },
  };
}

/** Brings package.json up to date; leaves it alone when it is. */
export function writeManifest(root: string): void {
  const file = path.join(root, 'package.json');
  const before = readFileSync(file, 'utf8');
  const { exports: _, typesVersions: __, ...others } = JSON.parse(before) as Record<string, unknown>;
  const at = Object.keys(others).indexOf('files') + 1;
  const members = Object.entries(others);
  members.splice(at, 0, ...Object.entries(manifestParts(entriesOf(root))));
  const text = `${JSON.stringify(Object.fromEntries(members), null, 2)}\n`;
  if (text !== before) writeFileSync(file, text);
}
