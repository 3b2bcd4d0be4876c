import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { linkDependencies } from '../../tools/scripts/packages.ts';
import { ROOT, type Installed } from './console.ts';

/** A release, as tools/release/releases.json records it. */
export interface Release {
  readonly version: string;
  readonly commit: string;
  /** The day of the release, as `2026-11-28`. */
  readonly date: string;
}

/** Returns all releases, with the newest last. */
export function readReleases(): readonly Release[] {
  const file = path.join(ROOT, 'tools', 'release', 'releases.json');
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Release[];
}

/**
 * Builds the commit of a release in a folder that git ignores, and returns its installation. It
 * uses the installed dependencies of this workspace. Later calls use the same build.
 *
 * @throws {Error} When the clone does not have the commit. The message says how to fetch it.
 */
export function buildRelease({ version, commit }: Release): Installed {
  requireCommit(version, commit);
  const releases = path.join(ROOT, '.build', 'releases');
  const folder = path.join(releases, commit);
  if (!existsSync(folder)) extract(commit, releases, folder);
  linkDependencies(folder);
  // The build waits for other builds of the same folder, and does nothing if it is up to date.
  execFileSync(process.execPath, ['tools/scripts/build.ts'], { cwd: folder, stdio: 'pipe' });
  return { node: process.execPath, folder };
}

function requireCommit(version: string, commit: string): void {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'pipe' });
  } catch (cause) {
    throw new Error(
      `This clone does not have the commit of release ${version}. Run: git fetch --depth 1 origin ${commit}`,
      { cause },
    );
  }
}

/** If two processes extract the same commit, the first one to finish wins. */
function extract(commit: string, releases: string, folder: string): void {
  mkdirSync(releases, { recursive: true });
  const next = mkdtempSync(path.join(releases, '.next-'));
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', next], { input: archive });
  try {
    renameSync(next, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(next, { recursive: true });
  }
}
