// The conditions for releasing a commit.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGES } from '../packages.ts';
import { readManifest, runtimeTree, type Installed } from './lock.ts';

export const git = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/**
 * Returns all reasons why this commit must not be released. With `isTagging`, the tag must not
 * exist yet. Otherwise it must point at this commit.
 */
export function problemsOf(root: string, isTagging = false): readonly string[] {
  const { version } = readManifest(root);
  const changed = git(root, 'status', '--porcelain');
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    version: string;
  };
  return [
    ...(changed === '' ? [] : [`The tree is not clean:\n${changed}`]),
    ...problemsOfTag(root, `v${version}`, isTagging),
    ...(changesOf(root, version) === '' ? [`CHANGELOG.md says nothing under ## [${version}]`] : []),
    ...(lock.version === version ? [] : [`package-lock.json is of ${lock.version}: npm install`]),
    ...PACKAGES.filter(({ directory }) => versionOf(directory) !== version).map(
      ({ name, directory }) => `${name} is of ${versionOf(directory)}`,
    ),
    ...installScripts(runtimeTree(root)).map((each) => `${each} has an install script`),
  ];
}

function problemsOfTag(root: string, tag: string, isTagging: boolean): readonly string[] {
  const isThere = git(root, 'tag', '--list', tag) !== '';
  if (isTagging) return isThere ? [`The tag ${tag} already exists`] : [];
  const tags = git(root, 'tag', '--points-at', 'HEAD').split('\n');
  return tags.includes(tag) ? [] : [`The tag ${tag} does not point at this commit`];
}

function versionOf(directory: string): string {
  return (
    JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as { version: string }
  ).version;
}

/** Returns a problem if package.json lacks the repository address that npm's provenance names. */
export function problemsOfRepository(root: string): readonly string[] {
  return readManifest(root).repository === undefined
    ? ['package.json names no repository, and provenance is of a repository']
    : [];
}

/** Returns the packages for which npm would run a script during installation. */
export function installScripts(tree: readonly Installed[]): readonly string[] {
  return tree.filter((each) => each.hasInstallScript === true).map((each) => each.folder);
}

/** Returns the changelog's text for a version, without its heading. */
function changesOf(root: string, version: string): string {
  const sections = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const section = sections.find((each) => each.startsWith(`[${version}]`)) ?? '';
  return section.split('\n').slice(1).join('\n').trim();
}
