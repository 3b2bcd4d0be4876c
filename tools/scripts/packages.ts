// The packages of the workspace, and what each offers: the build and the checks read it here.
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '..', '..');

/** What a package offers under a separate name. */
export interface Entry {
  /** As `exports` has it: `.`, `./express`. */
  readonly name: string;
  /** Its module below `src` and `dist`, without its ending: `mounts/express/index`. */
  readonly module: string;
}

/** A package of the workspace. */
export interface Package {
  /** Its folder below `packages`. */
  readonly folder: string;
  /** Absolute. */
  readonly directory: string;
  /** As it is published. */
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** A feature whose module is also an entry. */
const TELEMETRY = 'features/telemetry/opentelemetry/index';

/** In the order in which they depend on each other. */
const FOLDERS = ['sql', 'portico', 'admin', 'import', 'kit', 'mcp', 'assistant', 'resource-server'];

export const PACKAGES: readonly Package[] = FOLDERS.map((folder) => {
  const directory = path.join(ROOT, 'packages', folder);
  const { name } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as {
    name: string;
  };
  return { folder, directory, name, entries: entriesOf(directory) };
});

/** `src/index.ts`, the other modules of `src` that are entries, and each framework. */
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
 * Gives a copy of the workspace, which has its packages at the same places, the dependencies of
 * this one: links to all that is installed here, and to the packages of the copy instead of those
 * of this one.
 */
export function linkDependencies(copy: string, from: string = ROOT): void {
  const [installed, modules] = [path.join(from, 'node_modules'), path.join(copy, 'node_modules')];
  mkdirSync(path.join(modules, '@portico'), { recursive: true });
  for (const name of readdirSync(installed))
    if (!['@portico', 'portico'].includes(name))
      link(path.join(installed, name), path.join(modules, name));
  for (const { folder, name } of PACKAGES)
    link(path.join(copy, 'packages', folder), path.join(modules, name));
}

function link(target: string, at: string): void {
  if (!existsSync(at)) symlinkSync(target, at);
}
