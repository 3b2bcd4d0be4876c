// @engines sqlite: it reads the installed packages
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Ajv as AjvClass } from 'ajv';
import { describe, expect, test } from 'vitest';
import { installScripts } from '../tools/scripts/supply/checks.ts';
import { readLock, readManifest, runtimeTree } from '../tools/scripts/supply/lock.ts';
import { sbomOf, type Sbom } from '../tools/scripts/supply/sbom.ts';
import { ROOT } from './support/console.ts';

interface InstalledManifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/**
 * The dependencies of an application, as Node resolves them from the manifests, without
 * `package-lock.json`.
 */
function installed(): ReadonlyMap<string, InstalledManifest> {
  const found = new Map<string, InstalledManifest>();
  const visit = (name: string, from: string): void => {
    const places = [path.join(from, 'node_modules', name), path.join(ROOT, 'node_modules', name)];
    const folder = places.find((each) => existsSync(each)) ?? '';
    if (found.has(folder)) return;
    const manifest = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    ) as InstalledManifest;
    found.set(folder, manifest);
    for (const need of Object.keys(manifest.dependencies ?? {})) visit(need, folder);
  };
  for (const name of Object.keys(readManifest(ROOT).dependencies)) visit(name, ROOT);
  return found;
}

const namesOf = (manifests: Iterable<InstalledManifest>) =>
  [...manifests].map(({ name, version }) => `${name}@${version}`).toSorted();

const INSTALLING = ['preinstall', 'install', 'postinstall'];

describe('the packages installed with Portico', () => {
  // @shows HOST-5.5
  test('run no install script and compile nothing', () => {
    const packages = [...installed()];
    expect(packages.length).toBeGreaterThan(8);
    const scripted = packages.filter(
      ([folder, { scripts = {} }]) =>
        INSTALLING.some((name) => name in scripts) || existsSync(path.join(folder, 'binding.gyp')),
    );
    expect(scripted).toEqual([]);
    expect(installScripts(runtimeTree(ROOT))).toEqual([]);
    const own = JSON.parse(
      readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
    ) as InstalledManifest;
    expect(Object.keys(own.scripts ?? {}).filter((name) => INSTALLING.includes(name))).toEqual([]);
  });

  test('are checked at every depth: an install script in a nested package is found', () => {
    const lock = readLock(ROOT);
    const [deep = ''] = Object.keys(lock).filter((folder) =>
      folder.endsWith('/@modelcontextprotocol/core'),
    );
    const tree = runtimeTree(ROOT).map((each) => ({
      ...each,
      hasInstallScript: each.folder === deep,
    }));
    expect(installScripts(tree)).toEqual([deep]);
    expect(Object.values(lock).some(({ hasInstallScript }) => hasInstallScript === true)).toBe(
      true,
    );
  });
});

describe('the bill of materials', () => {
  const sbom = sbomOf(ROOT, { timestamp: '2026-01-01T00:00:00.000Z', sha512: '0'.repeat(128) });

  /** Packages that are installed but not in it, and packages in it that are not installed. */
  const differencesOf = ({ components }: Pick<Sbom, 'components'>) => {
    const [there, named] = [
      namesOf(installed().values()),
      components.map((each) => `${each.name}@${each.version}`),
    ];
    return [
      there.filter((each) => !named.includes(each)),
      named.filter((each) => !there.includes(each)),
    ];
  };

  // @shows HOST-5.6
  test('follows the CycloneDX 1.6 schema', () => {
    const validate = cycloneDx();
    expect([validate(sbom), validate.errors]).toEqual([true, null]);
    expect(validate({ ...sbom, serialNumber: 'urn:uuid:none' })).toBe(false);
    const [first] = sbom.components;
    expect(
      validate({ ...sbom, components: [{ ...first, licenses: [{ license: { id: 'Mine' } }] }] }),
    ).toBe(false);
  });

  // @shows HOST-5.6
  test('lists exactly the packages that are installed with Portico', () => {
    expect(differencesOf(sbom)).toEqual([[], []]);
    const [, second, ...others] = sbom.components;
    expect(differencesOf({ components: others })[0]).toContain(
      `${second?.name}@${second?.version}`,
    );
  });

  test('has the licence, hash, purl and dependencies of each package', () => {
    for (const manifest of installed().values()) {
      const component = sbom.components.find(({ name }) => name === manifest.name);
      const purl = `pkg:npm/${manifest.name.replace('@', '%40')}@${manifest.version}`;
      expect(component).toMatchObject({ purl, licenses: [{ license: { id: manifest.license } }] });
      expect(JSON.stringify(component?.['hashes'])).toMatch(/"SHA-512","content":"[\da-f]{128}"/);
      const needs = sbom.dependencies.find(({ ref }) => ref === purl)?.dependsOn ?? [];
      const named = Object.keys(manifest.dependencies ?? {}).map((name) =>
        name.replace('@', '%40'),
      );
      expect(needs.map((ref) => ref.replace(/^pkg:npm\/(.*)@.*$/, '$1'))).toEqual(named.toSorted());
    }
  });

  // @shows HOST-5.6
  test('lists what the build bundles into dist', () => {
    expect(sbom.metadata.component['components']).toMatchObject([{ name: 'zod' }]);
  });

  test('is identical for the same package, and different for a different package', () => {
    const options = { timestamp: '2026-01-01T00:00:00.000Z', sha512: '0'.repeat(128) };
    expect(JSON.stringify(sbomOf(ROOT, options))).toBe(JSON.stringify(sbom));
    expect(sbomOf(ROOT, { ...options, sha512: '1'.repeat(128) }).serialNumber).not.toBe(
      sbom.serialNumber,
    );
  });
});

/** With the validator that Fastify ships. */
function cycloneDx() {
  const fastify = createRequire(path.join(ROOT, 'node_modules/fastify/package.json'));
  const compiler = createRequire(fastify.resolve('@fastify/ajv-compiler'));
  const { Ajv } = compiler('ajv') as { Ajv: typeof AjvClass };
  const folder = path.join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
  const read = (name: string) =>
    JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as object;
  const formats = { 'iri-reference': true, 'idn-email': true, 'date-time': true } as const;
  const ajv = new Ajv({ strict: false, logger: false, formats });
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'])
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}`);
  return ajv.compile(read('bom-1.6.SNAPSHOT.schema.json'));
}
