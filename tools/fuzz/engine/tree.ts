import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { linkDependencies, PACKAGES } from '../../scripts/packages.ts';
import { FAULTS, type Fault } from '../faults.ts';
import { instrument } from './instrument.ts';

/** A copy of the sources that is instrumented. */
export interface Tree {
  readonly folder: string;
  /** The number of places that are counted. */
  readonly places: number;
}

const root = path.join(import.meta.dirname, '..', '..', '..');
const builds = path.join(root, '.build', 'fuzz');
/** The age after which trees are no longer in use, in milliseconds. */
const OLD = 86_400_000;

/**
 * Builds the instrumented copy below `.build/fuzz`, once for each state of the sources. `planted`
 * adds all faults of `faults.ts`. Each fault is inactive until its target runs.
 */
export function buildTree(planted: boolean): Tree {
  const sources = filesOf('packages/*/src/**/*.{ts,eta}').filter(
    (file) => !file.endsWith('.test.ts'),
  );
  // Copies the files that the targets share with the tests unchanged.
  const own = filesOf('{tools/fuzz/**/*,test/support/{algorithms,grant-types,profiles}}.ts');
  const hash = createHash('sha256').update(JSON.stringify([planted, 'ways of counting: 1']));
  for (const file of [...sources, ...own])
    hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  const folder = path.join(builds, hash.digest('hex').slice(0, 16));
  const places = path.join(folder, 'places.json');
  if (!existsSync(places)) write(folder, sources, own, planted);
  return { folder, places: JSON.parse(readFileSync(places, 'utf8')) as number };
}

function filesOf(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: root }).toSorted();
}

function write(
  folder: string,
  sources: readonly string[],
  own: readonly string[],
  planted: boolean,
): void {
  removeOld();
  // Write to another name and rename the folder, because another process may write the same folder.
  const next = `${folder}.${process.pid}`;
  let places = 0;
  const put = (file: string, code: string) => {
    mkdirSync(path.dirname(path.join(next, file)), { recursive: true });
    writeFileSync(path.join(next, file), code);
  };
  for (const file of sources) {
    if (file.endsWith('.ts')) {
      const source = readFileSync(path.join(root, file), 'utf8');
      const { code, next: after } = instrument(planted ? withFaults(file, source) : source, places);
      places = after;
      put(file, code);
    } else copy(file, next);
  }
  for (const file of own) copy(file, next);
  put('package.json', JSON.stringify({ name: 'fuzzed', version: '0.0.0', type: 'module' }));
  for (const { folder: name, name: published, entries } of PACKAGES) {
    const exports = entries.map((entry) => [entry.name, `./src/${entry.module}.ts`]);
    const manifest = { name: published, type: 'module', exports: Object.fromEntries(exports) };
    put(`packages/${name}/package.json`, JSON.stringify(manifest));
  }
  put('places.json', JSON.stringify(places));
  try {
    renameSync(next, folder);
    linkDependencies(folder);
  } catch {
    rmSync(next, { recursive: true });
  }
}

function copy(file: string, to: string): void {
  mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
  copyFileSync(path.join(root, file), path.join(to, file));
}

function withFaults(file: string, source: string): string {
  return FAULTS.flatMap(({ name, edits }) => edits.map((edit) => ({ name, ...edit })))
    .filter((edit) => edit.file === file)
    .reduce(withFault, source);
}

/**
 * Adds a fault to the source. Throws if the source no longer contains the text that the fault
 * replaces.
 */
function withFault(
  source: string,
  { name, file, from, to }: { readonly name: string } & Fault['edits'][number],
): string {
  if (source.split(from).length !== 2) {
    throw new Error(`The fault "${name}" replaces what is not there once in ${file}: ${from}`);
  }
  const awake = `(globalThis.fault === ${JSON.stringify(name)})`;
  return source.replace(from, () => to.replaceAll('AWAKE', awake));
}

function removeOld(): void {
  if (!existsSync(builds)) return;
  for (const name of readdirSync(builds)) {
    const folder = path.join(builds, name);
    if (/^[0-9a-f]{16}/.test(name) && Date.now() - statSync(folder).mtimeMs > OLD)
      rmSync(folder, { recursive: true, force: true });
  }
}
