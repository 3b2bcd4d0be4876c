// Reads from package-lock.json which packages are installed, and what an application gets if it
// installs Portico.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGES } from '../packages.ts';

/** A package in the lockfile. Its key is its folder, such as `node_modules/hono`. */
export interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  /** The hash of its tarball, as `sha512-…` in base64. */
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Whether npm would run a script of the package during installation. */
  readonly hasInstallScript?: boolean;
}

export type Lock = Readonly<Record<string, LockedPackage>>;

/** The dependencies in package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly repository?: { readonly url: string };
}

/** An installed package of a tree. */
export interface Installed extends LockedPackage {
  readonly name: string;
  /** The path from the root: `node_modules/hono`. */
  readonly folder: string;
  /** The folders of its dependencies. */
  readonly needs: readonly string[];
}

/**
 * Returns the dependencies of all packages on other packages, the metadata of `portico`, and the
 * development dependencies.
 */
export function readManifest(root: string): Manifest {
  const read = (folder: string) =>
    JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Partial<Manifest>;
  const packages = PACKAGES.map(({ folder }) => read(path.join('packages', folder)));
  const own = PACKAGES.map(({ name }) => name);
  const together = (part: 'dependencies' | 'peerDependencies', without: readonly string[]) => {
    const all = packages.flatMap((each) => Object.entries(each[part] ?? {}));
    const others = all.filter(([name]) => !without.includes(name));
    return Object.fromEntries(others.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  };
  const dependencies = together('dependencies', own);
  const peerDependencies = together('peerDependencies', [...own, ...Object.keys(dependencies)]);
  const { devDependencies = {} } = read('');
  const portico = read(path.join('packages', 'portico')) as Manifest;
  return { ...portico, dependencies, peerDependencies, devDependencies };
}

export const readLock = (root: string): Lock =>
  (JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as { packages: Lock })
    .packages;

/**
 * Returns these packages and all of their dependencies, by folder. Each appears once. Optional and
 * peer dependencies are left out, because npm does not install them for these packages.
 *
 * @throws {Error} When the lock file lacks one of them.
 */
export function treeOf(lock: Lock, names: readonly string[]): readonly Installed[] {
  const found = new Map<string, Installed>();
  const visit = (name: string, from: string): string => {
    const folder = folderOf(lock, name, from);
    const locked = folder === null ? undefined : lock[folder];
    if (folder === null || locked === undefined)
      throw new Error(`package-lock.json has no ${name} for ${from}`);
    if (!found.has(folder)) {
      const needs: string[] = [];
      found.set(folder, { ...locked, name, folder, needs });
      for (const need of Object.keys(locked.dependencies ?? {})) needs.push(visit(need, folder));
      needs.sort();
    }
    return folder;
  };
  for (const name of names) visit(name, '');
  return [...found.values()].toSorted((one, other) => (one.folder < other.folder ? -1 : 1));
}

/**
 * Returns the folder where Node would find the package for code in `from`: the first match in the
 * node_modules folders, from the nearest folder upwards.
 */
export function folderOf(lock: Lock, name: string, from: string): string | null {
  const folder = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (lock[folder] !== undefined) return folder;
  if (from === '') return null;
  return folderOf(lock, name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))));
}

/** Returns the packages that an application gets if it installs Portico. */
export function runtimeTree(root: string): readonly Installed[] {
  return treeOf(readLock(root), Object.keys(readManifest(root).dependencies));
}
