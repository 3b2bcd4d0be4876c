// Finds out how an existing application is built. Writes nothing.
import fs, { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { Failure } from './failure.ts';
import {
  DATABASE_LIBRARIES,
  DEPENDENCIES,
  SESSION_LIBRARIES,
  type DatabaseLibrary,
  type Framework,
  type GuideOnly,
} from './frameworks.ts';
import { textOf } from './text-of.ts';

/** The parts of a package.json that `detect` reads. */
export interface Manifest {
  readonly name?: string;
  readonly type?: string;
  readonly main?: string;
  readonly packageManager?: string;
  readonly portico?: { readonly app?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** What was detected about an application. */
export interface Detected {
  /** The absolute path of the application's folder. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly framework: Framework | GuideOnly;
  /** The major version of the framework, or null if package.json does not contain it. */
  readonly major: number | null;
  readonly language: 'typescript' | 'javascript';
  readonly modules: 'esm' | 'commonjs';
  /** Whether the application's imports may end in `.ts`. */
  readonly importsTs: boolean;
  readonly packageManager: PackageManager;
  readonly database: DatabaseLibrary | null;
  /** The major version of `@types/node`, or null if package.json does not list this package. */
  readonly nodeTypes: number | null;
  /** The SQLite library that the application uses instead of `node:sqlite`, or null. */
  readonly otherSqlite: 'better-sqlite3' | 'another' | null;
  /** The application's session library, or null if no known library is installed. */
  readonly session: string | null;
  /** The name of the environment file that Portico reads. */
  readonly envFile: '.env' | '.env.local';
  /** The settings in `.env` and `.env.local`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const LOCK_FILES: readonly (readonly [file: string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/**
 * Whether the folder is missing, or contains only files that a new repository has, such as a
 * README.
 */
export function isEmpty(folder: string): boolean {
  const started = new Set(['.git', '.gitignore', 'README.md', 'LICENSE']);
  return !existsSync(folder) || readdirSync(folder).every((name) => started.has(name));
}

/**
 * Reads how the application in a folder is built. Throws a `Failure` if the folder has no readable
 * package.json.
 */
export function detect(folder: string): Detected {
  const manifest = readManifest(folder);
  const dependencies = { ...manifest.devDependencies, ...manifest.dependencies };
  const has = (name: string) => name in dependencies;
  const found = DEPENDENCIES.find(([name]) => has(name));
  const framework = found?.[1] ?? runtimeOf(folder) ?? 'node';
  const language = isTypeScript(folder, has) ? 'typescript' : 'javascript';
  const envFile =
    existsSync(path.join(folder, '.env.local')) ||
    (framework === 'next' && !existsSync(path.join(folder, '.env')))
      ? '.env.local'
      : '.env';
  const sessions = SESSION_LIBRARIES[framework as Framework] ?? [];
  return {
    folder,
    manifest,
    framework,
    major: found === undefined ? null : majorOf(dependencies[found[0]]),
    language,
    modules: moduleKindOf(folder, manifest, language),
    importsTs: importsTs(folder, framework),
    packageManager: packageManagerOf(folder, manifest),
    database: DATABASE_LIBRARIES.find(has) ?? (usesNodeSqlite(folder) ? 'node:sqlite' : null),
    nodeTypes: majorOf(dependencies['@types/node']),
    otherSqlite: otherSqliteOf(has),
    session: sessions.find(has) ?? null,
    envFile,
    env: settingsOf(folder),
  };
}

function readManifest(folder: string): Manifest {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file))
    throw new Failure(
      `${folder} contains files, but no package.json. Run npm create portico in the folder of your application, or in an empty folder.`,
    );
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Ignore this error. The error below also applies to a file that is not valid JSON.
  }
  throw new Failure(`${file} does not contain a JSON object. Fix this file first.`);
}

function otherSqliteOf(has: (name: string) => boolean): Detected['otherSqlite'] {
  if (has('better-sqlite3')) return 'better-sqlite3';
  return ['@prisma/client', 'sqlite3', '@libsql/client'].some(has) ? 'another' : null;
}

function packageManagerOf(folder: string, { packageManager = '' }: Manifest): PackageManager {
  const named = LOCK_FILES.find(([, name]) => packageManager.startsWith(`${name}@`));
  const locked = LOCK_FILES.find(([file]) => existsSync(path.join(folder, file)));
  return (named ?? locked)?.[1] ?? 'npm';
}

function runtimeOf(folder: string): GuideOnly | null {
  if (existsSync(path.join(folder, 'deno.json')) || existsSync(path.join(folder, 'deno.jsonc')))
    return 'deno';
  return existsSync(path.join(folder, 'bunfig.toml')) ? 'bun' : null;
}

function isTypeScript(folder: string, has: (name: string) => boolean): boolean {
  return existsSync(path.join(folder, 'tsconfig.json')) || has('typescript');
}

/**
 * Returns the text of tsconfig.json without comment lines. Returns an empty string if the file does
 * not exist.
 */
function compilerOptions(folder: string): string {
  const file = path.join(folder, 'tsconfig.json');
  return existsSync(file) ? readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, '') : '';
}

function moduleKindOf(
  folder: string,
  { type }: Manifest,
  language: Detected['language'],
): Detected['modules'] {
  if (type === 'module') return 'esm';
  // With a bundler or `module: esnext`, TypeScript creates ES modules, even if package.json
  // declares CommonJS.
  const isEsm = /"module"\s*:\s*"(?:es|preserve)/i.test(compilerOptions(folder));
  return language === 'typescript' && isEsm ? 'esm' : 'commonjs';
}

function importsTs(folder: string, framework: string): boolean {
  if (framework === 'sveltekit') return true; // SvelteKit's tsconfig.json allows it.
  const file = path.join(folder, 'tsconfig.json');
  const allowed = /"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/;
  return !existsSync(file) || allowed.test(compilerOptions(folder));
}

function majorOf(range: string | undefined): number | null {
  const [, major] = /(\d+)(?:\.|$)/.exec(range ?? '') ?? [];
  return major === undefined ? null : Number(major);
}

/**
 * Whether the application imports node:sqlite. Searches only the application's folder and its
 * subfolders `src`, `lib` and `app`.
 */
function usesNodeSqlite(folder: string): boolean {
  // Do not import `globSync` by name. Older versions of Node do not export it, so the import would
  // fail before the version check runs.
  return fs
    .globSync(['*.{ts,js,mjs,cjs,mts}', '{src,lib,app}/*.{ts,js,mjs,cjs,mts}'], {
      cwd: folder,
    })
    .some((file) => readFileSync(path.join(folder, file), 'utf8').includes("'node:sqlite'"));
}

/** Returns the settings in `.env` and `.env.local`. Settings in `.env.local` take precedence. */
export function settingsOf(folder: string): Detected['env'] {
  return { ...readEnv(path.join(folder, '.env')), ...readEnv(path.join(folder, '.env.local')) };
}

/** Returns the settings in one environment file. Returns no settings if the file does not exist. */
export function readEnv(file: string): Detected['env'] {
  return parseEnv(textOf(file) ?? '');
}
