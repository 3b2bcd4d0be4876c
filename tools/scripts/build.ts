// Makes `dist` of every package: what is published. TypeScript checks and declares; the code goes
// into few files, since most of an application's start is the reading of files:
// `docs/decisions/0012` has the figures. A server may run on `dist` meanwhile, and every npm script
// begins with a build: `docs/decisions/0022` says what holds then.
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

/** Beside `dist` and as deep, so that source maps name the same files from both. */
const NEXT = '.dist';
/**
 * Modules with a file of their own, besides the entries: the console, and what loads it by its
 * file.
 */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  portico: ['console/program/console', 'console/program/run-console'],
};
/** What is bundled with a package instead of being one of its dependencies. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  'resource-server': ['portico/extension'],
};
/** How long another build is waited for, in milliseconds. */
const PATIENCE = 10 * 60_000;

const builds = waitForOtherBuilds();
// Also for a package that is newer than the last `npm ci` here.
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

/** One build at a time: the file's lock ends with the process that holds it, however that ends. */
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
 * Whether `dist` is, byte for byte, what was made of these inputs. A build that was cut off left
 * something else.
 */
function isCurrent(): boolean {
  const last = builds.prepare('SELECT inputs, outputs FROM build').get();
  if (last?.['inputs'] === inputs && last['outputs'] === outputsIn('dist')) return true;
  builds.exec('DELETE FROM build');
  return false;
}

/** All that the output depends on; npm writes down in node_modules what is installed there. */
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

/** Of what was made in this folder of every package. */
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
 * One program for all packages; each gets its own declarations. Gives the names that are a value
 * and a type, as `namesOfBoth`.
 */
function declare(): ReadonlyMap<string, string> {
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const out = path.join(root, '.build', 'types');
  rmSync(out, { recursive: true, force: true });
  const { status } = spawnSync(
    process.execPath,
    [compiler, '-p', 'tsconfig.build.json', '--outDir', out],
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

/** What package.json offers, at `dist/<module>.js`; what they share in one folder. */
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
    // Dependencies stay what the application installed. zod alone, most of it translations, comes
    // along.
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
  // Named by content: a process that starts while files are replaced must not link parts of two
  // builds.
  const { output } = await bundled.write({
    dir: next,
    chunkFileNames: 'shared/[name]-[hash].js',
    // For us: no file names them, and packages leave them out.
    sourcemap: 'hidden',
    // They are in the declarations, where editors look, and in the source maps. Node reads what is
    // left at every start.
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
 * Bundlers look for a driver that is named, and an application that uses SQLite has none; and they
 * warn of a file that the console loads, whose name they do not know: all of them leave these
 * alone.
 */
function hideImports(file: string): void {
  const code = readFileSync(file, 'utf8');
  const ignored = '/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */';
  const hidden = code
    .replaceAll(/\bimport\(("pg"|"mysql2")\)/g, `import(${ignored} String($1))`)
    .replaceAll(/\bimport\((?=[A-Za-z])/g, `import(${ignored} `);
  if (hidden !== code) writeFileSync(file, hidden);
}

/** A package's built-in views by name. No two rooms have one of the same name. */
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

/** What is loaded by its name: the entries and the console. */
function modulesOf({ folder, entries }: Package): readonly string[] {
  return [...entries.map(({ module }) => module), ...(ALSO[folder] ?? [])];
}

// --- putting it in place
// --------------------------------------------------------------------------------------

/**
 * File by file, so that no name is ever missing: first what the entries name, then the entries,
 * then what is left over.
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
