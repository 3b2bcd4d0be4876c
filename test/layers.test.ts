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
const KIT_TYPES = 'packages/portico/src/application/contracts.ts';

const LAYERS: readonly Layer[] = [
  layer('packages/portico/src/contracts'),
  layer('packages/portico/src/jws'),
  layer('packages/portico/src/http', { within: ['packages/portico/src/contracts'] }),
  layer('packages/portico/src/words', { within: ['packages/portico/src/contracts', 'packages/portico/src/http'] }),
  layer('packages/sql/src', { within: ['packages/portico/src/contracts'] }),
  layer('packages/portico/src/defaults', { within: ['packages/portico/src/contracts', 'packages/portico/src/http', 'packages/portico/src/words'] }),
  layer('packages/kit/src', { within: ['packages/portico/src/contracts', 'packages/portico/src/http', 'packages/portico/src/words', 'packages/sql/src', 'packages/portico/src/defaults'] }),
  layer('packages/portico/src', {
    within: ['packages/portico/src/contracts', 'packages/portico/src/jws', 'packages/portico/src/http', 'packages/portico/src/words', 'packages/sql/src', 'packages/portico/src/defaults'],
    types: [KIT_TYPES],
    typesFor: ['packages/portico/src/plugin.ts', 'packages/portico/src/console/'],
  }),
  layer('packages/mcp/src', {
    within: ['packages/portico/src/contracts', 'packages/portico/src/http'],
    files: ['packages/portico/src/index.ts'],
    types: [KIT_TYPES],
    typesFor: ['packages/mcp/src/plugin.ts'],
  }),
  layer('packages/assistant/src', {
    within: ['packages/portico/src/contracts', 'packages/sql/src'],
    files: [
      'packages/mcp/src/index.ts',
      'packages/mcp/src/tools/tool-access.ts',
      'packages/portico/src/index.ts',
      'packages/portico/src/clients/redirect-uris.ts',
      'packages/portico/src/console/checks.ts',
      'packages/portico/src/console/every-client.ts',
      'packages/portico/src/console/report.ts',
    ],
    types: [KIT_TYPES],
  }),
  layer('packages/portico/src/mounts/fetch', { within: ['packages/portico/src/http'], files: ['packages/portico/src/index.ts'] }),
  ...['packages/portico/src/mounts/node', 'packages/portico/src/mounts/express', 'packages/portico/src/mounts/fastify', 'packages/portico/src/mounts/hono', 'packages/portico/src/mounts/koa'].map((folder) =>
    layer(folder, {
      within: ['packages/portico/src/http', 'packages/portico/src/mounts/fetch'],
      files: ['packages/portico/src/mounts/node/mount.ts', 'packages/portico/src/index.ts'],
    }),
  ),
  layer('packages/portico/src/mounts/nest', {
    within: ['packages/portico/src/http', 'packages/portico/src/mounts/fetch'],
    files: [
      'packages/portico/src/mounts/express/index.ts',
      'packages/portico/src/mounts/fastify/answer.ts',
      'packages/portico/src/mounts/fastify/index.ts',
      'packages/portico/src/mounts/node/mount.ts',
      'packages/portico/src/index.ts',
    ],
  }),
  layer('packages/portico/src/mounts/next', { within: ['packages/portico/src/http', 'packages/portico/src/mounts/fetch'], files: ['packages/portico/src/index.ts'] }),
  layer('packages/portico/src/telemetry', { within: ['packages/portico/src/contracts'] }),
  layer('packages/resource-server/src', { within: ['packages/portico/src/http', 'packages/portico/src/jws'] }),
  layer('examples/express'),
  layer('examples/fastify'),
  layer('examples/jwt'),
  layer('examples/key-signer-pkcs11'),
  layer('examples/assistant'),
  layer('examples/catalog'),
  layer('examples/articles'),
  layer('examples/portal'),
  layer('examples/relying-party'),
];

/** The rooms and files of the two large folders, from the top: each may import those after it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'packages/portico/src': [
    'index',
    'plugin',
    'assembly',
    'assembly/',
    'administration/',
    'console/',
    'authorization-server',
    'configuration',
    'features',
    'features/',
    'feature',
    'authorizing',
    'admitting',
    'host-branding',
    'host-defaults',
    'complete-host',
    'endpoints/',
    'metadata',
    'replies/',
    'health/',
    'authorization/',
    'grants/',
    'protected-resource',
    'server',
    'config',
    'client-documents/',
    'importing/',
    'registering/',
    'access/',
    'clients/',
    'outbound/',
    'measuring/',
    'refusals',
    'parameters',
    'tokens/',
    'profiles/',
    'quoting',
    'keys/',
    'store/',
    'errors',
    'form-token',
    'accounts',
    'host',
    'auditing/',
    'crypto',
  ],
  'packages/kit/src': [
    'index',
    'console/',
    'application',
    'dispatch',
    'registration',
    'kit',
    'configuration',
    'typed-configuration',
    'environment',
    'accounts/',
    'events',
    'database/',
    'http/',
    'errors',
    'contracts',
  ],
};

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

/** What a test beside the code uses of `test/support`. */
const isTestSupport = (found: Import) =>
  found.file.endsWith('.test.ts') && resolved(found).startsWith('test/support/');

/** A file with all that it loads of this repository. */
function loadedBy(file: string, known: Set<string> = new Set()): ReadonlySet<string> {
  if (known.has(file)) return known;
  known.add(file);
  const loaded = importsOf(file).filter(
    ({ specifier, typesOnly }) => specifier.startsWith('.') && !typesOnly,
  );
  for (const found of loaded) loadedBy(path.join(root, resolved(found)), known);
  return known;
}

describe('imports run downwards only', () => {
  // @shows AS-1.1, MCP-1.1
  test.each(LAYERS)('$folder imports only what its layer allows', ({ folder, allowed }) => {
    const files = filesIn(folder);
    expect(files.length).toBeGreaterThan(0);
    const relative = files.flatMap(importsOf).filter(({ specifier }) => specifier.startsWith('.'));
    const forbidden = relative.filter((found) => !allowed(found) && !isTestSupport(found));
    expect(
      forbidden.map(({ file, specifier }) => `${path.relative(root, file)} imports ${specifier}`),
    ).toEqual([]);
  });

  test('what a test beside the code loads is source, and nothing that has to be built', () => {
    const support = filesIn('src').flatMap(importsOf).filter(isTestSupport);
    const loaded = support.flatMap((found) => [...loadedBy(path.join(root, resolved(found)))]);
    const built = loaded
      .flatMap(importsOf)
      .filter(({ specifier, typesOnly }) => specifier.startsWith('portico/') && !typesOnly);
    expect(built.map(({ file, specifier }) => `${path.relative(root, file)} imports ${specifier}`)).toEqual(
      [],
    );
    expect(support.length).toBeGreaterThan(0);
  });

  test('the examples use the public names only', () => {
    const found = filesIn('examples').flatMap(importsOf);
    const intoSource = found.filter(
      (each) => each.specifier.startsWith('.') && resolved(each).startsWith('src/'),
    );
    const deep = found.filter(({ specifier }) =>
      /^portico\/(?!host$|oauth-server$|mcp$|assistant$|fetch$|node$|express$|fastify$|hono$|koa$|nest$|next$|resource-server$|telemetry$)/.test(
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

describe('the code of src', () => {
  const files = filesIn('src').filter((file) => !file.endsWith('.test.ts'));
  const named = (file: string) => path.relative(root, file);

  test('has no cycle of imports, not by types either', () => {
    const imports = new Map(
      files.map((file) => {
        const relative = importsOf(file).filter(({ specifier }) => specifier.startsWith('.'));
        return [named(file), relative.map(resolved)] as const;
      }),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) cycles.push([...way.slice(way.indexOf(file)), file].join(' > '));
      else if (!done.has(file)) {
        for (const next of imports.get(file) ?? []) visit(next, [...way, file]);
        done.add(file);
      }
    };
    for (const file of imports.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test.each(Object.entries(ROOMS))('in %s runs downwards only, room by room', (folder, rooms) => {
    const roomOf = (file: string) => {
      const [first = '', ...rest] = path.relative(folder, file).split('/');
      return rest.length === 0 ? path.basename(first, '.ts') : `${first}/`;
    };
    const upward = files
      .filter((file) => named(file).startsWith(`${folder}/`))
      .flatMap(importsOf)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter((found) => resolved(found).startsWith(`${folder}/`))
      .filter((found) => {
        const [from, to] = [roomOf(named(found.file)), roomOf(resolved(found))];
        return from !== to && !(rooms.indexOf(from) < rooms.indexOf(to) && rooms.includes(from));
      });
    expect(upward.map((found) => `${named(found.file)} imports ${resolved(found)}`)).toEqual([]);
  });

  test('loads nothing past the imports that can be seen', () => {
    const found = files.filter((file) => /\bcreateRequire\b/.test(readFileSync(file, 'utf8')));
    expect(found.map(named)).toEqual([]);
  });
});
