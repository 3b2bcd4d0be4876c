// A commit built and packed in folders of its own: what comes of it must not depend on where, when and by whom that is done.
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
import { runtimeTree } from './lock.ts';

const run = promisify(execFile);

/** What surrounds a build. */
export interface Surroundings {
  readonly folder: string;
  readonly umask: string;
  readonly timeZone: string;
  readonly locale: string;
  /** The time that all files of the clone get, in seconds since 1970; without it they keep that of the clone. */
  readonly fileTime?: number;
}

export interface BuildOptions {
  /** The repository. */
  readonly root: string;
  readonly commit: string;
  /** Takes the packages of this folder, and no network; without it `npm ci` brings those of the lock file. */
  readonly modules?: string;
}

/** Clones the commit into `<folder>/portico`, builds and packs it there. Gives the package. */
export async function pack(options: BuildOptions, around: Surroundings): Promise<Buffer> {
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
  else lend(modules, path.join(clone, 'node_modules'), new Set(runtimeTree(clone).map(({ name }) => name)));
  if (around.fileTime !== undefined) setTimes(clone, around.fileTime);
  await inClone('npm', 'pack', '--silent', '--pack-destination', '..');
  const tarball = readdirSync(around.folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error(`npm pack left no package in ${around.folder}`);
  return readFileSync(path.join(around.folder, tarball));
}

async function inSurroundings(
  cwd: string,
  command: readonly string[],
  { umask, timeZone, locale }: Surroundings,
): Promise<void> {
  const env = {
    HOME: process.env['HOME'],
    // This Node, also for npm: another one may compress otherwise.
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
    TZ: timeZone,
    LC_ALL: locale,
    npm_config_update_notifier: 'false',
  };
  await run('sh', ['-c', `umask ${umask} && exec "$@"`, 'sh', ...command], { cwd, env });
}

/**
 * The packages of a folder by other names. What can be part of `dist` is there itself, since the build names it by where it is; the rest,
 * which is much, is a symbolic link. What tools keep there for themselves is left.
 */
function lend(from: string, to: string, itself: ReadonlySet<string>): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from)) {
    if (/^\.(?:cache|vite)/.test(entry)) continue;
    const [source, target] = [path.join(from, entry), path.join(to, entry)];
    if (entry.startsWith('@')) lend(source, target, within(entry, itself));
    else if (itself.has(entry)) link(source, target);
    else symlinkSync(source, target);
  }
}

/** Of `@hono/node-server` in `@hono` it is `node-server`. */
function within(scope: string, names: ReadonlySet<string>): ReadonlySet<string> {
  const own = [...names].filter((name) => name.startsWith(`${scope}/`));
  return new Set(own.map((name) => name.slice(scope.length + 1)));
}

/** The same files, where the file system allows it. */
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
