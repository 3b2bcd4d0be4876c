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
  else link(modules, path.join(clone, 'node_modules'));
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

/** The same files by other names, where the file system allows it; what tools keep there for themselves is left. */
function link(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (/^\.(?:cache|vite)/.test(entry.name)) continue;
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
