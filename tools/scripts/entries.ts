// Creates the parts of each package.json that describe the entries of the package. The build
// writes them, so for a new entry you only need a new folder. It also copies the root's
// `repository`.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Entry, Package } from './packages.ts';
import { readRepository, repositoryPart } from './repository.ts';

/**
 * `require` uses a stub that requires the module itself, because Node and the types of CommonJS
 * need a separate file. `main`, `types` and `typesVersions` are for `moduleResolution: node10`,
 * which does not read `exports`.
 */
export function manifestParts(entries: readonly Entry[]) {
  const targets = entries.map(({ name, module }) => [
    name,
    {
      require: { types: `./dist/${module}.d.cts`, default: `./dist/${module}.cjs` },
      default: { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` },
    },
  ]);
  const below = entries.filter(({ name }) => name !== '.');
  const versions = below.map(({ name, module }) => [name.slice(2), [`./dist/${module}.d.ts`]]);
  return {
    main: './dist/index.cjs',
    types: './dist/index.d.ts',
    exports: { ...Object.fromEntries(targets), './package.json': './package.json' } as Record<
      string,
      unknown
    >,
    ...(below.length === 0 ? {} : { typesVersions: { '*': Object.fromEntries(versions) } }),
  };
}

/** Updates package.json. Does not write the file if nothing changed. */
export function writeManifest({ directory, entries, folder }: Package): void {
  const file = path.join(directory, 'package.json');
  const before = readFileSync(file, 'utf8');
  const {
    main: _,
    types: __,
    exports: ___,
    typesVersions: ____,
    repository: _____,
    ...others
  } = JSON.parse(before) as Record<string, unknown>;
  const at = Object.keys(others).indexOf('files') + 1;
  const members = Object.entries(others);
  members.splice(
    at,
    0,
    ...Object.entries({
      ...repositoryPart(folder, readRepository()),
      ...manifestParts(entries),
    }),
  );
  const text = `${JSON.stringify(Object.fromEntries(members), null, 2)}\n`;
  if (text !== before) writeFileSync(file, text);
}
