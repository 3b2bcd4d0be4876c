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

/** What a layer may import of this repository, and nothing else of it. */
interface Layer {
  readonly folder: string;
  readonly allowed: (found: Import) => boolean;
}

/** What plugins and console commands are written in; nothing else of the server knows the kit. */
const KIT_TYPES = 'src/host/contracts.ts';

const LAYERS: readonly Layer[] = [
  layer('src/contracts'),
  layer('src/http', { within: ['src/contracts'] }),
  layer('src/sql', { within: ['src/contracts'] }),
  layer('src/host', { within: ['src/contracts', 'src/http', 'src/sql'] }),
  layer('src/oauth-server', {
    within: ['src/contracts', 'src/http', 'src/sql'],
    types: [KIT_TYPES],
    typesFor: ['src/oauth-server/plugin.ts', 'src/oauth-server/console/', 'src/oauth-server/commands/'],
  }),
  layer('src/mcp', {
    within: ['src/contracts', 'src/http'],
    files: ['src/oauth-server/index.ts'],
    types: [KIT_TYPES],
    typesFor: ['src/mcp/plugin.ts'],
  }),
  layer('src/assistant', {
    within: ['src/contracts', 'src/sql'],
    files: [
      'src/mcp/index.ts',
      'src/mcp/tool-access.ts',
      'src/oauth-server/index.ts',
      'src/oauth-server/clients/redirect-uris.ts',
      'src/oauth-server/console/checks.ts',
      'src/oauth-server/console/report.ts',
    ],
    types: [KIT_TYPES],
  }),
  ...['src/node', 'src/express', 'src/fastify'].map((folder) =>
    layer(folder, {
      within: ['src/http'],
      files: ['src/node/mount.ts', 'src/oauth-server/index.ts'],
    }),
  ),
  layer('src/resource-server', { within: ['src/http'] }),
  layer('examples/express-app'),
  layer('examples/fastify-app'),
  layer('examples/assistant'),
  layer('examples/catalog'),
  layer('examples/articles'),
  layer('examples/portal'),
  layer('examples/relying-party'),
];

/**
 * A folder may import of itself, of what is `within` these folders, of these `files`, and of those only `types`, which
 * `typesFor` keeps to some of its files and folders.
 */
function layer(
  folder: string,
  {
    within = [],
    files = [],
    types = [],
    typesFor = [''],
  }: {
    readonly within?: readonly string[];
    readonly files?: readonly string[];
    readonly types?: readonly string[];
    readonly typesFor?: readonly string[];
  } = {},
): Layer {
  return {
    folder,
    allowed(found) {
      const file = resolved(found);
      return (
        [folder, ...within].some((each) => file.startsWith(`${each}/`)) ||
        files.includes(file) ||
        (found.typesOnly &&
          types.includes(file) &&
          typesFor.some((each) => path.relative(root, found.file).startsWith(each)))
      );
    },
  };
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
  // @shows AS-1.1, MCP-1.1
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
