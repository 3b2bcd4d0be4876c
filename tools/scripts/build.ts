// Builds `dist` of every package, which is what npm publishes. TypeScript checks the code and
// writes the declarations. The code itself is bundled into few files, because reading files takes
// most of an application's start. `docs/decisions/0012` has the figures. A server may be running on
// `dist` during the build, and every npm script begins with a build. `docs/decisions/0022` explains
// what this requires.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rolldown } from 'rolldown';
import { startGroups } from './chunks.ts';
import { finishDeclarations, namesOfBoth, writeCommonJs } from './declarations.ts';
import { writeManifest } from './entries.ts';
import { checkNodeFirst, writeNodeVersion } from './node-version.ts';
import { linkDependencies, PACKAGES, ROOT as root, type Package } from './packages.ts';

/**
 * The folder for the new output. It is next to `dist` and at the same depth, so that source maps
 * name the same files from both folders.
 */
const NEXT = '.dist';
/**
 * Modules that get a separate file, in addition to the entries: the console, and the module that
 * loads the console's file.
 */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  portico: ['console/program/console', 'console/program/run-console'],
};
/** Modules that are bundled with a package instead of being one of its dependencies. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  'resource-server': ['portico/extension'],
};
/** How long to wait for another build, in milliseconds. */
const PATIENCE = 10 * 60_000;

const builds = waitForOtherBuilds();
// Link the packages, because one of them may be newer than the last `npm ci`.
linkDependencies(root);
for (const each of PACKAGES) writeManifest(each);
const inputs = fingerprint(root, inputFiles());
if (!isCurrent()) {
  for (const { directory } of PACKAGES)
    rmSync(path.join(directory, NEXT), { recursive: true, force: true });
  const types = declare();
  for (const each of PACKAGES) await bundle(each, types);
  const outputs = outputsIn(NEXT);
  for (const each of PACKAGES) replace(each);
  builds.prepare('INSERT INTO build (inputs, outputs) VALUES (?, ?)').run(inputs, outputs);
}
builds.exec('COMMIT');
builds.close();

// --- whether there is something to do
// -------------------------------------------------------------------------

/**
 * Waits until no other build runs. The lock on the file ends with its process, even if the process
 * crashes.
 */
function waitForOtherBuilds(): DatabaseSync {
  mkdirSync(path.join(root, '.build'), { recursive: true });
  const database = new DatabaseSync(path.join(root, '.build', 'builds.sqlite'), {
    timeout: PATIENCE,
  });
  database.exec('BEGIN EXCLUSIVE');
  database.exec('CREATE TABLE IF NOT EXISTS build (inputs TEXT NOT NULL, outputs TEXT NOT NULL)');
  return database;
}

/**
 * Whether `dist` contains, byte for byte, what was built from these inputs. An interrupted build
 * leaves other bytes.
 */
function isCurrent(): boolean {
  const last = builds.prepare('SELECT inputs, outputs FROM build').get();
  if (last?.['inputs'] === inputs && last['outputs'] === outputsIn('dist')) return true;
  builds.exec('DELETE FROM build');
  return false;
}

/**
 * Returns all files on which the output depends. npm records in node_modules what is installed
 * there.
 */
function inputFiles(): readonly string[] {
  const sources = globSync('packages/*/src/**/*.{ts,eta}', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const others = [
    'tools/scripts/build.ts',
    'tools/scripts/chunks.ts',
    'tools/scripts/declarations.ts',
    'tools/scripts/entries.ts',
    'tools/scripts/node-version.ts',
    'tools/scripts/packages.ts',
    ...PACKAGES.map(({ folder }) => `packages/${folder}/package.json`),
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
    'package-lock.json',
    'node_modules/.package-lock.json',
  ];
  return [...sources, ...others.filter((file) => existsSync(path.join(root, file)))];
}

function fingerprint(folder: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files.toSorted()) {
    const content = readFileSync(path.join(folder, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Returns a hash of the output in this folder of every package. */
function outputsIn(folder: string): string {
  const all = PACKAGES.map(({ directory }) => {
    const made = path.join(directory, folder);
    return fingerprint(made, filesIn(made));
  });
  return createHash('sha256').update(all.join('\n')).digest('hex');
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

// --- making it
// ------------------------------------------------------------------------------------------------

/**
 * Writes the declarations. One TypeScript program covers all packages, and each package gets its
 * own declarations. Returns the names that are both a value and a type, as `namesOfBoth` does.
 */
function declare(): ReadonlyMap<string, string> {
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const out = path.join(root, '.build', 'types');
  rmSync(out, { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    // One checker needs half the processor time of four.
    [compiler, '-p', 'tsconfig.build.json', '--outDir', out, '--checkers', '1'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(status ?? 1);
  for (const { folder, directory, entries } of PACKAGES) {
    const next = path.join(directory, NEXT);
    cpSync(path.join(out, folder, 'src'), next, { recursive: true });
    finishDeclarations(next, entries);
    const source = path.join(directory, 'src');
    for (const view of globSync('**/views/**/*.eta', { cwd: source }))
      cpSync(path.join(source, view), path.join(next, view));
  }
  return namesOfBoth(out);
}

/**
 * Bundles a package. The entries of package.json are at `dist/<module>.js`, and shared code is in a
 * folder.
 */
async function bundle(each: Package, types: ReadonlyMap<string, string>): Promise<void> {
  const { folder, directory, entries } = each;
  const [source, next] = [path.join(directory, 'src'), path.join(directory, NEXT)];
  const input = Object.fromEntries(
    modulesOf(each).map((name) => [name, path.join(source, `${name}.ts`)]),
  );
  const bundledIn = BUNDLED[folder] ?? [];
  const bundled = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    // Dependencies stay separate packages that the application installs. Only zod is bundled,
    // because most of its package is translations.
    external: (id) =>
      /^[^./]/.test(id) && !id.startsWith('zod') && !path.isAbsolute(id) && !bundledIn.includes(id),
    resolve: {
      alias: { 'portico/extension': path.join(root, 'packages', 'portico', 'src', 'extension.ts') },
    },
    plugins: [
      {
        name: 'zod in English',
        load: (id) =>
          /[\\/]zod[\\/].*[\\/]locales[\\/]index\.js$/.test(id)
            ? "export { default as en } from './en.js';"
            : null,
      },
      {
        name: 'views in the code',
        load: (id) =>
          path.basename(id) === 'embedded-views.ts' &&
          path.normalize(id).startsWith(source + path.sep)
            ? `export const EMBEDDED_VIEWS = ${JSON.stringify(views(source), null, 2)};`
            : null,
      },
    ],
  });
  // The names contain a hash of the content. Therefore a process that starts while files are
  // replaced cannot combine parts of two builds.
  const { output } = await bundled.write({
    dir: next,
    chunkFileNames: 'shared/[name]-[hash].js',
    // Source maps are only for us. No file refers to them, and the packages leave them out.
    sourcemap: 'hidden',
    // Editors find doc comments in the declarations. Leave them out of the code, which Node reads
    // at every start.
    comments: { jsdoc: false },
    codeSplitting: { groups: folder === 'portico' ? startGroups(source) : [] },
  });
  await bundled.close();
  writeNodeVersion(next);
  for (const chunk of output) {
    if (chunk.type === 'chunk') hideImports(path.join(next, chunk.fileName));
    const entry = entries.find(({ module }) => chunk.fileName === `${module}.js`);
    if (entry === undefined || chunk.type !== 'chunk') continue;
    checkNodeFirst(next, entry.module);
    writeCommonJs(next, entry, chunk.exports, types);
  }
}

/**
 * Hides imports from bundlers. A bundler would look for every driver that the code names, although
 * an application on SQLite has none. It would also warn about the file that the console loads,
 * because it does not know the name of that file.
 */
function hideImports(file: string): void {
  const code = readFileSync(file, 'utf8');
  const ignored = '/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */';
  const hidden = code
    .replaceAll(/\bimport\(("pg"|"mysql2")\)/g, `import(${ignored} String($1))`)
    .replaceAll(/\bimport\((?=[A-Za-z])/g, `import(${ignored} `);
  if (hidden !== code) writeFileSync(file, hidden);
}

/**
 * Returns the built-in views of a package by name. No two folders contain a view with the same
 * name.
 */
function views(source: string): Readonly<Record<string, string>> {
  const files = globSync(['views/**/*.eta', '*/views/**/*.eta'], { cwd: source }).toSorted();
  const named = files.map((file) => [
    file
      .split(path.sep)
      .join('/')
      .replace(/^(?:[^/]+\/)?views\//, '')
      .replace(/\.eta$/, ''),
    readFileSync(path.join(source, file), 'utf8'),
  ]);
  return Object.fromEntries(named) as Readonly<Record<string, string>>;
}

/** Returns the modules that are loaded by name: the entries and the console. */
function modulesOf({ folder, entries }: Package): readonly string[] {
  return [...entries.map(({ module }) => module), ...(ALSO[folder] ?? [])];
}

// --- putting it in place
// --------------------------------------------------------------------------------------

/**
 * Replaces `dist` file by file, so that no file is ever missing: first the files that the entries
 * import, then the entries. Old files are removed last.
 */
function replace(each: Package): void {
  const [dist, next] = [path.join(each.directory, 'dist'), path.join(each.directory, NEXT)];
  const files = filesIn(next);
  const last = new Set(modulesOf(each).map((name) => path.normalize(`${name}.js`)));
  for (const file of [...files.filter((each) => !last.has(each)), ...last]) {
    mkdirSync(path.dirname(path.join(dist, file)), { recursive: true });
    renameSync(path.join(next, file), path.join(dist, file));
  }
  const made = new Set(files);
  for (const file of filesIn(dist)) if (!made.has(file)) rmSync(path.join(dist, file));
  removeEmptyFolders(dist);
  rmSync(next, { recursive: true, force: true });
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(path.join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
