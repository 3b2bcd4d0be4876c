// The packages of the workspace and their entries. The build and the checks read them here.
import { globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '..', '..');

/** An entry: a part of a package that has its own import name. */
export interface Entry {
  /** The name in `exports`, such as `.` or `./express`. */
  readonly name: string;
  /**
   * The path of its module below `src` and `dist`, without the extension: `mounts/express/index`.
   */
  readonly module: string;
}

/** A package of the workspace. */
export interface Package {
  /** The name of its folder below `packages`. */
  readonly folder: string;
  /** The absolute path of its folder. */
  readonly directory: string;
  /** The name under which it is published. */
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** The module of a feature that is also an entry. */
const TELEMETRY = 'features/telemetry/opentelemetry/index';

/** The folders of the packages. A package depends only on packages before it. */
const FOLDERS = [
  'sql',
  'portico',
  'admin',
  'import',
  'kit',
  'mcp',
  'assistant',
  'resource-server',
  'create-portico',
];

export const PACKAGES: readonly Package[] = FOLDERS.map((folder) => {
  const directory = path.join(ROOT, 'packages', folder);
  const { name } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as {
    name: string;
  };
  return { folder, directory, name, entries: entriesOf(directory) };
});

/**
 * Returns the entries of a package: `src/index.ts`, the other modules of `src` that are entries,
 * and each framework.
 */
function entriesOf(directory: string): readonly Entry[] {
  return globSync(['index.ts', 'extension.ts', `${TELEMETRY}.ts`, 'mounts/*/index.ts'], {
    cwd: path.join(directory, 'src'),
  })
    .map((file) => file.split(path.sep).join('/').replace(/\.ts$/, ''))
    .map((module) => ({ name: nameOf(module), module }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function nameOf(module: string): string {
  if (module === TELEMETRY) return './telemetry';
  const name = module.replace(/\/?index$/, '').replace(/^mounts\//, '');
  return name === '' ? '.' : `./${name}`;
}

/**
 * Links the dependencies of a copy of the workspace. The copy must have its packages at the same
 * paths. Installed packages are those of this workspace, and the packages of the workspace are
 * those of the copy.
 */
export function linkDependencies(copy: string, from: string = ROOT): void {
  const [installed, modules] = [path.join(from, 'node_modules'), path.join(copy, 'node_modules')];
  mkdirSync(path.join(modules, '@portico'), { recursive: true });
  const own = new Set(['@portico', ...PACKAGES.map(({ name }) => name)]);
  for (const name of readdirSync(installed))
    if (!own.has(name)) link(path.join(installed, name), path.join(modules, name));
  for (const { folder, name } of PACKAGES)
    link(path.join(copy, 'packages', folder), path.join(modules, name));
}

/** Creates a link. Another process may have created it already. */
function link(target: string, at: string): void {
  try {
    symlinkSync(target, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
