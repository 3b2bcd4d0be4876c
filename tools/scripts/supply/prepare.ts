// Writes what a release changes: the version, the changelog, the list of releases.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGES } from '../packages.ts';

/** A release in tools/release/releases.json. */
interface Release {
  readonly version: string;
  readonly commit: string;
  /** The day of the commit, as `2026-11-28`. */
  readonly date: string;
}

interface Manifest {
  version?: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const NAMES: ReadonlySet<string> = new Set(PACKAGES.map(({ name }) => name));

/**
 * Writes the version to every package.json and to package-lock.json. Moves the text under
 * "Unreleased" in the changelog to a section for this version. Throws an Error if the text is not a
 * version, or if nothing is under "Unreleased".
 */
export function prepareRelease(root: string, version: string, now: Date): void {
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) throw new Error(`${version} is not a version`);
  const log = path.join(root, 'CHANGELOG.md');
  const changelog = withSection(readFileSync(log, 'utf8'), version, now);
  for (const folder of ['', ...PACKAGES.map((each) => `packages/${each.folder}`)])
    edit(path.join(root, folder, 'package.json'), (manifest) => setVersion(manifest, version));
  edit(path.join(root, 'package-lock.json'), (lock) => {
    const { packages } = lock as { packages: Record<string, Manifest> };
    lock.version = version;
    for (const [folder, each] of Object.entries(packages))
      if (folder === '' || folder.startsWith('packages/')) setVersion(each, version);
  });
  writeFileSync(log, changelog);
}

/** Adds a release to tools/release/releases.json. It replaces an entry of the same version. */
export function recordRelease(root: string, release: Release): void {
  const file = path.join(root, 'tools', 'release', 'releases.json');
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Release[]) : [];
  const others = before.filter(({ version }) => version !== release.version);
  writeFileSync(file, `${JSON.stringify([...others, release], null, 2)}\n`);
}

function edit(file: string, change: (manifest: Manifest) => void): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  change(manifest);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Sets the version, and the versions of our packages among the dependencies. */
function setVersion(manifest: Manifest, version: string): void {
  const before = manifest.version;
  if (before !== undefined) manifest.version = version;
  for (const part of [manifest.dependencies ?? {}, manifest.peerDependencies ?? {}])
    for (const [name, range] of Object.entries(part))
      if (NAMES.has(name) && before !== undefined) part[name] = range.replace(before, version);
}

const INTRODUCTION = 'There is no release yet. The first release will contain these changes:\n';

function withSection(changelog: string, version: string, now: Date): string {
  const [, ...sections] = changelog.split(/^## /m);
  const unreleased = sections.find((each) => each.startsWith('[Unreleased]')) ?? '';
  const changes = unreleased.replace('[Unreleased]', '').replace(INTRODUCTION, '').trim();
  if (changes === '') throw new Error('CHANGELOG.md says nothing under ## [Unreleased]');
  const section = `[${version}] - ${now.toISOString().slice(0, 10)}\n\n${changes}\n`;
  const isLast = sections.at(-1) === unreleased;
  return changelog.replace(
    `## ${unreleased}`,
    () => `## [Unreleased]\n\n## ${section}${isLast ? '' : '\n'}`,
  );
}
