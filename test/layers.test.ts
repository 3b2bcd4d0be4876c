// @engines sqlite: it reads the sources
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typesOnly: boolean;
}

/** What a layer may import of ours; everything else of ours is forbidden to it. */
interface Layer {
  readonly folder: string;
  readonly allowed: (found: Import) => boolean;
}

const LAYERS: readonly Layer[] = [
  { folder: 'src/http', allowed: staysWithin('src/http') },
  {
    folder: 'src/host',
    allowed: (found) => staysWithin('src/host')(found) || staysWithin('src/http')(found),
  },
  {
    folder: 'src/oauth-server',
    allowed: (found) =>
      staysWithin('src/oauth-server')(found) ||
      staysWithin('src/http')(found) ||
      (found.typesOnly && resolved(found) === 'src/host/contracts.ts'),
  },
  {
    folder: 'src/mcp',
    allowed: (found) =>
      staysWithin('src/mcp')(found) ||
      staysWithin('src/http')(found) ||
      resolved(found) === 'src/oauth-server/index.ts' ||
      (found.typesOnly && resolved(found) === 'src/host/contracts.ts'),
  },
  {
    folder: 'src/assistant',
    allowed: (found) =>
      staysWithin('src/assistant')(found) ||
      ['src/mcp/index.ts', 'src/oauth-server/index.ts'].includes(resolved(found)) ||
      (found.typesOnly && resolved(found) === 'src/host/contracts.ts'),
  },
  ...['src/node', 'src/express', 'src/fastify'].map((folder) => ({
    folder,
    allowed: (found: Import) =>
      staysWithin(folder)(found) ||
      staysWithin('src/http')(found) ||
      ['src/node/index.ts', 'src/mcp/index.ts', 'src/oauth-server/index.ts'].includes(resolved(found)),
  })),
  { folder: 'src/resource-server', allowed: staysWithin('src/resource-server') },
  { folder: 'examples/express-app', allowed: staysWithin('examples/express-app') },
  { folder: 'examples/fastify-app', allowed: staysWithin('examples/fastify-app') },
  { folder: 'examples/assistant', allowed: staysWithin('examples/assistant') },
  { folder: 'examples/catalog', allowed: staysWithin('examples/catalog') },
  { folder: 'examples/articles', allowed: staysWithin('examples/articles') },
  { folder: 'examples/portal', allowed: staysWithin('examples/portal') },
  { folder: 'examples/relying-party', allowed: staysWithin('examples/relying-party') },
];

function staysWithin(folder: string): (found: Import) => boolean {
  return (found) => resolved(found).startsWith(`${folder}/`);
}

/** The imported file relative to the root. */
function resolved({ file, specifier }: Import): string {
  return path.relative(root, path.resolve(path.dirname(file), specifier));
}

function importsOf(file: string): readonly Import[] {
  const source = readFileSync(file, 'utf8');
  const statements = source.matchAll(/^\s*(?:import|export)\s+(type\s+)?[^;'"]*?from\s+'([^']+)'/gm);
  const dynamic = source.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  const sideEffects = source.matchAll(/^\s*import\s+'([^']+)'/gm);
  return [
    ...[...statements].map(([, types, specifier = '']) => ({
      file,
      specifier,
      typesOnly: types !== undefined,
    })),
    ...[...dynamic, ...sideEffects].map(([, specifier = '']) => ({ file, specifier, typesOnly: false })),
  ];
}

function filesIn(folder: string): readonly string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root }).map((file) => path.join(root, file));
}

describe('imports run downwards only', () => {
  test.each(LAYERS)('$folder imports only what its layer allows', ({ folder, allowed }) => {
    const files = filesIn(folder);
    expect(files.length).toBeGreaterThan(0);
    const relative = files.flatMap(importsOf).filter(({ specifier }) => specifier.startsWith('.'));
    const forbidden = relative.filter((found) => !allowed(found));
    expect(
      forbidden.map(({ file, specifier }) => `${path.relative(root, file)} imports ${specifier}`),
    ).toEqual([]);
  });

  test('the examples use the public names only', () => {
    const found = filesIn('examples').flatMap(importsOf);
    const intoSource = found.filter(
      (each) => each.specifier.startsWith('.') && resolved(each).startsWith('src/'),
    );
    const deep = found.filter(({ specifier }) =>
      /^portico\/(?!host$|oauth-server$|mcp$|assistant$|node$|express$|fastify$|resource-server$)/.test(
        specifier,
      ),
    );
    expect([...intoSource, ...deep].map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  test('the relying party uses nothing of Portico', () => {
    const found = filesIn('examples/relying-party').flatMap(importsOf);
    expect(found.filter(({ specifier }) => specifier.startsWith('portico'))).toEqual([]);
  });
});
