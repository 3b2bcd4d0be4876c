// Makes `dist`: what is published. TypeScript checks and declares; the code goes into few files, since most of an
// application's start is the reading of files: `docs/decisions/0012` has the figures. A server may run on `dist` meanwhile,
// and every npm script begins with a build: `docs/decisions/0022` says what holds then.
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
import { finishDeclarations, writeCommonJs } from './declarations.ts';
import { entriesOf, writeManifest } from './entries.ts';
import { checkNodeFirst, writeNodeVersion } from './node-version.ts';

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
/** Beside `dist` and as deep, so that source maps name the same files from both. */
const next = path.join(root, '.dist');
/** Where the source of an entry is, if not under its own name. */
const SOURCES: Readonly<Record<string, string>> = { 'host/console': 'host/console/console' };
/** How long another build is waited for, in milliseconds. */
const PATIENCE = 10 * 60_000;

const builds = waitForOtherBuilds();
writeManifest(root);
const published = entriesOf(root);
const inputs = fingerprint(root, inputFiles());
if (!isCurrent()) {
  rmSync(next, { recursive: true, force: true });
  declare();
  for (const view of globSync('**/views/**/*.eta', { cwd: path.join(root, 'src') })) {
    cpSync(path.join(root, 'src', view), path.join(next, view));
  }
  await bundle();
  const files = filesIn(next);
  const outputs = fingerprint(next, files);
  replace(files);
  builds.prepare('INSERT INTO build (inputs, outputs) VALUES (?, ?)').run(inputs, outputs);
}
builds.exec('COMMIT');
builds.close();

// --- whether there is something to do -------------------------------------------------------------------------

/** One build at a time: the file's lock ends with the process that holds it, however that ends. */
function waitForOtherBuilds(): DatabaseSync {
  mkdirSync(path.join(root, '.build'), { recursive: true });
  const database = new DatabaseSync(path.join(root, '.build', 'builds.sqlite'), { timeout: PATIENCE });
  database.exec('BEGIN EXCLUSIVE');
  database.exec('CREATE TABLE IF NOT EXISTS build (inputs TEXT NOT NULL, outputs TEXT NOT NULL)');
  return database;
}

/** Whether `dist` is, byte for byte, what was made of these inputs. A build that was cut off left something else. */
function isCurrent(): boolean {
  const last = builds.prepare('SELECT inputs, outputs FROM build').get();
  if (last?.['inputs'] === inputs && last['outputs'] === fingerprint(dist, filesIn(dist))) return true;
  builds.exec('DELETE FROM build');
  return false;
}

/** All that the output depends on; npm writes down in node_modules what is installed there. */
function inputFiles(): readonly string[] {
  const sources = globSync('src/**/*.{ts,eta}', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const others = [
    'tools/scripts/build.ts',
    'tools/scripts/chunks.ts',
    'tools/scripts/declarations.ts',
    'tools/scripts/entries.ts',
    'tools/scripts/node-version.ts',
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

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

// --- making it ------------------------------------------------------------------------------------------------

function declare(): void {
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', next], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
  finishDeclarations(next, published);
}

/** What package.json offers and the console, at `dist/<folder>/<name>.js`; what they share one folder deep as well. */
async function bundle(): Promise<void> {
  const input = Object.fromEntries(
    entries().map((name) => [name, path.join(root, 'src', `${SOURCES[name] ?? name}.ts`)]),
  );
  const bundled = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    // Dependencies stay what the application installed. zod alone, most of it translations, comes along.
    external: (id) => /^[^./]/.test(id) && !id.startsWith('zod') && !path.isAbsolute(id),
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
          path.normalize(id) === path.join(root, 'src', 'defaults', 'embedded-views.ts')
            ? `export const EMBEDDED_VIEWS = ${JSON.stringify(views(), null, 2)};`
            : null,
      },
    ],
  });
  // Named by content: a process that starts while files are replaced must not link parts of two builds.
  const { output } = await bundled.write({
    dir: next,
    chunkFileNames: 'shared/[name]-[hash].js',
    sourcemap: true,
    // They are in the declarations, where editors look, and in the source maps. Node reads what is left at every start.
    comments: { jsdoc: false },
    codeSplitting: { groups: startGroups(root) },
  });
  await bundled.close();
  writeNodeVersion(next);
  for (const chunk of output) {
    if (chunk.type === 'chunk') hideImports(path.join(next, chunk.fileName));
    const entry = published.find((name) => chunk.fileName === `${name}/index.js`);
    if (entry === undefined || chunk.type !== 'chunk') continue;
    checkNodeFirst(path.join(next, chunk.fileName));
    writeCommonJs(next, entry, chunk.exports);
  }
}

/**
 * Bundlers look for a driver that is named, and an application that uses SQLite has none; and they warn of a file that the
 * console loads, whose name they do not know: all of them leave these alone.
 */
function hideImports(file: string): void {
  const code = readFileSync(file, 'utf8');
  const ignored = '/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */';
  const hidden = code
    .replaceAll(/\bimport\(("pg"|"mysql2")\)/g, `import(${ignored} String($1))`)
    .replaceAll(/\bimport\((?=[A-Za-z])/g, `import(${ignored} `);
  if (hidden !== code) writeFileSync(file, hidden);
}

/** The built-in views by name. No two rooms have one of the same name. */
function views(): Readonly<Record<string, string>> {
  const files = globSync('src/*/views/**/*.eta', { cwd: root }).toSorted();
  const named = files.map((file) => [
    file
      .split(path.sep)
      .slice(3)
      .join('/')
      .replace(/\.eta$/, ''),
    readFileSync(path.join(root, file), 'utf8'),
  ]);
  return Object.fromEntries(named) as Readonly<Record<string, string>>;
}

/** What is loaded by its name: the entries and the console. */
function entries(): readonly string[] {
  return [...published.map((name) => `${name}/index`), 'host/console'];
}

// --- putting it in place --------------------------------------------------------------------------------------

/** File by file, so that no name is ever missing: first what the entries name, then the entries, then what is left over. */
function replace(files: readonly string[]): void {
  const last = new Set(entries().map((name) => path.normalize(`${name}.js`)));
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
