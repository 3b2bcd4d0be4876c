// Creates the bill of materials of a release (CycloneDX 1.6). It lists what an application gets if
// it installs Portico, from package-lock.json, and the code that the build put into `dist`, from
// its source maps. The same input always gives the same bytes.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { folderOf, readLock, readManifest, treeOf, type LockedPackage } from './lock.ts';

export interface Component {
  readonly type: string;
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly [key: string]: unknown;
}

export interface Sbom {
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component; readonly [key: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly [key: string]: unknown;
}

export interface SbomOptions {
  /**
   * When the document was created, in ISO 8601. A release uses the time of its commit. If missing,
   * the document contains no time.
   */
  readonly timestamp?: string;
  /** The SHA-512 of the package, in hexadecimal digits. */
  readonly sha512?: string;
}

/**
 * Returns the bill of materials of the repository at `root`. It must have been built.
 *
 * @throws {Error} When the lock file lacks a package, its hash or its licence.
 */
export function sbomOf(root: string, { timestamp, sha512 }: SbomOptions = {}): Sbom {
  const manifest = readManifest(root);
  const lock = readLock(root);
  const tree = treeOf(lock, Object.keys(manifest.dependencies));
  const purl = purlOf(manifest.name, manifest.version);
  const refs = new Map(tree.map((each) => [each.folder, purlOf(each.name, each.version)]));
  const refsOf = (folders: readonly string[]) =>
    folders.map((folder) => refs.get(folder) ?? '').toSorted();
  const direct = Object.keys(manifest.dependencies).map((name) => folderOf(lock, name, '') ?? '');
  const component = {
    type: 'library',
    'bom-ref': purl,
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    ...(sha512 === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    licenses: licencesOf(manifest.name, manifest.license),
    purl,
    components: bundledIn(root).map((name) => bundledComponent(name, lock[`node_modules/${name}`])),
  };
  const content = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      ...(timestamp === undefined ? {} : { timestamp }),
      lifecycles: [{ phase: 'build' }],
      component,
    },
    components: tree.map((each) => componentOf(each.name, each)),
    dependencies: [
      { ref: purl, dependsOn: refsOf(direct) },
      ...tree.map((each) => ({ ref: refs.get(each.folder) ?? '', dependsOn: refsOf(each.needs) })),
    ],
  };
  return { ...content, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}` };
}

function componentOf(name: string, { version, license, integrity }: LockedPackage): Component {
  if (!integrity?.startsWith('sha512-'))
    throw new Error(`package-lock.json has no SHA-512 of ${name}`);
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
  const purl = purlOf(name, version);
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    scope: 'required',
    hashes: [{ alg: 'SHA-512', content }],
    licenses: licencesOf(name, license),
    purl,
  };
}

/**
 * Describes code of another package in `dist`. Updating the installed package does not change this
 * code.
 */
function bundledComponent(name: string, locked: LockedPackage | undefined): Component {
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}, which is in dist`);
  const component = componentOf(name, locked);
  return { ...component, 'bom-ref': `${component['bom-ref']}#bundled` };
}

/** Returns the packages whose code the build put into `dist`. */
export function bundledIn(root: string): readonly string[] {
  const maps = globSync('packages/*/dist/**/*.map', { cwd: root });
  const sources = maps.flatMap(
    (file) =>
      (JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { sources: string[] }).sources,
  );
  const names = sources.map(
    (source) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

function licencesOf(name: string, license: string | undefined): readonly object[] {
  if (license === undefined) throw new Error(`package-lock.json has no licence of ${name}`);
  return /^[\w.-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

/**
 * Returns the package URL (https://github.com/package-url/purl-spec). The scope is a separate
 * segment, and its `@` is encoded.
 */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
}

/** Returns a UUID that is derived from the content (RFC 9562 section 5.8). */
function uuidOf(content: string): string {
  const digits = createHash('sha256').update(content).digest('hex').slice(0, 32).split('');
  digits[12] = '8';
  digits[16] = ((parseInt(digits[16] ?? '0', 16) & 3) | 8).toString(16);
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
