// Builds and packs a commit in separate folders. The result must not depend on where, when or by
// which account it is built.
import { execFile } from 'node:child_process';
import {
  cpSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { PACKAGES } from '../packages.ts';
import { runtimeTree } from './lock.ts';

const run = promisify(execFile);

/** The environment of a build. */
export interface Surroundings {
  readonly folder: string;
  readonly umask: string;
  readonly timeZone: string;
  readonly locale: string;
  /**
   * The time that all files of the clone get, in seconds since 1970. If missing, the files keep the
   * time of the clone.
   */
  readonly fileTime?: number;
}

export interface BuildOptions {
  /** The path of the repository. */
  readonly root: string;
  readonly commit: string;
  /**
   * The folder whose installed packages the build uses, without network. If missing, `npm ci`
   * installs the packages of the lockfile.
   */
  readonly modules?: string;
}

/** The packed files by name, in the order in which the packages depend on each other. */
export type Tarballs = ReadonlyMap<string, Buffer>;

/** Clones the commit into `<folder>/portico`, and builds and packs it there. */
export async function pack(options: BuildOptions, around: Surroundings): Promise<Tarballs> {
  const { root, commit, modules } = options;
  const clone = path.join(around.folder, 'portico');
  mkdirSync(around.folder, { recursive: true });
  const inClone = (...command: readonly string[]) => inSurroundings(clone, command, around);
  await inSurroundings(
    root,
    ['git', 'clone', '--quiet', '--no-hardlinks', '--no-checkout', root, clone],
    around,
  );
  await inClone('git', '-c', 'advice.detachedHead=false', 'checkout', '--quiet', commit);
  if (modules === undefined)
    await inClone('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent');
  else lendAll(modules, clone);
  if (around.fileTime !== undefined) setTimes(clone, around.fileTime);
  await inClone('npm', 'run', '--silent', 'prepare');
  const names = await Promise.all(PACKAGES.map(({ folder }) => packOne(clone, folder, around)));
  return new Map(names.map((name) => [name, readFileSync(path.join(around.folder, name))]));
}

/** Packs one package. Returns the name of the file, which is in the folder of the environment. */
async function packOne(clone: string, folder: string, around: Surroundings): Promise<string> {
  const args = ['--workspace', `packages/${folder}`, '--pack-destination', '..', '--json'];
  const { stdout } = await inSurroundings(
    clone,
    ['npm', 'pack', '--ignore-scripts', ...args],
    around,
  );
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return filename;
}

/**
 * Gives a clone the installed packages of a folder. The packages of the workspace come from the
 * clone.
 */
function lendAll(from: string, clone: string): void {
  const modules = path.join(clone, 'node_modules');
  lend(from, modules, new Set(runtimeTree(clone).map(({ name }) => name)));
  mkdirSync(path.join(modules, '@portico'), { recursive: true });
  for (const { folder, name } of PACKAGES)
    symlinkSync(path.join(clone, 'packages', folder), path.join(modules, name));
}

async function inSurroundings(
  cwd: string,
  command: readonly string[],
  { umask, timeZone, locale }: Surroundings,
): Promise<{ readonly stdout: string }> {
  const env = {
    HOME: process.env['HOME'],
    // Run npm with this version of Node, because another version may compress differently.
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
    TZ: timeZone,
    LC_ALL: locale,
    npm_config_update_notifier: 'false',
  };
  return run('sh', ['-c', `umask ${umask} && exec "$@"`, 'sh', ...command], { cwd, env });
}

/**
 * Makes the packages of a folder available at other paths. Copies packages that can become part of
 * `dist`, because the build names them by their path. Links the other packages, because they are
 * large. Leaves out files that tools store there.
 */
function lend(from: string, to: string, itself: ReadonlySet<string>): void {
  mkdirSync(to, { recursive: true });
  const own = new Set(['@portico', ...PACKAGES.map(({ name }) => name)]);
  for (const entry of readdirSync(from)) {
    if (/^\.(?:cache|vite)/.test(entry) || own.has(entry)) continue;
    const [source, target] = [path.join(from, entry), path.join(to, entry)];
    if (entry.startsWith('@')) lend(source, target, within(entry, itself));
    else if (itself.has(entry)) link(source, target);
    else symlinkSync(source, target);
  }
}

/**
 * Returns the names of packages in a scope. For example, `@hono/node-server` becomes `node-server`
 * in `@hono`.
 */
function within(scope: string, names: ReadonlySet<string>): ReadonlySet<string> {
  const own = [...names].filter((name) => name.startsWith(`${scope}/`));
  return new Set(own.map((name) => name.slice(scope.length + 1)));
}

/** Copies a folder with hard links, if the file system supports them. */
function link(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) link(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(source, target);
  }
}

function setTimes(folder: string, seconds: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.name === '.git' || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) setTimes(file, seconds);
    lutimesSync(file, seconds, seconds);
  }
}
