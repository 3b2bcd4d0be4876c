// @engines sqlite: it only reads files
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typesOnly: boolean;
}

/**
 * The packages that each package may import, by their public names. The build bundles the parts of
 * `portico` that `resource-server` uses.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  sql: [],
  portico: ['@portico/sql'],
  admin: ['portico', 'portico/extension'],
  import: ['portico', 'portico/extension'],
  kit: ['@portico/sql', 'portico', 'portico/extension'],
  mcp: ['@portico/sql', 'portico', 'portico/extension'],
  assistant: ['@portico/mcp', '@portico/sql', 'portico', 'portico/extension'],
  'resource-server': ['portico/extension'],
  'create-portico': [],
};

const EXAMPLES = [
  'express',
  'fastify',
  'jwt',
  'key-signer-pkcs11',
  'assistant',
  'catalog',
  'articles',
  'portal',
  'relying-party',
];

/** The folders at the bottom. Each may import only itself and the listed folders. */
const FOUNDATION: Readonly<Record<string, readonly string[]>> = {
  'keys/jws': [],
  http: [],
  pages: ['http'],
};

/**
 * The folders and files of the large packages, from top to bottom. Each may import only those after
 * it.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'packages/portico/src': [
    'mounts/',
    'extension',
    'index',
    'plugin',
    'assembly/',
    'features',
    'features/',
    'feature',
    'console/',
    'authorization-server',
    'application/',
    'endpoints/',
    'authorization/',
    'grants/',
    'resource/',
    'clients/',
    'server',
    'config',
    'measuring',
    'refusals',
    'parameters',
    'tokens/',
    'profiles',
    'paths',
    'outbox/',
    'examination',
    'keys/',
    'store/',
    'quoting',
    'errors',
    'host/',
    'auditing/',
    'person',
    'crypto',
    'to-disk',
    'pages/',
    'http/',
  ],
  'packages/kit/src': [
    'index',
    'application',
    'host',
    'commands/',
    'dispatch',
    'kit',
    'accounts/',
    'views',
    'embedded-views',
    'http/',
    'errors',
    'contracts',
  ],
};

/** The imported file relative to the root. */
function resolved({ file, specifier }: Import): string {
  return path.relative(root, path.resolve(path.dirname(file), specifier));
}

function importsOf(file: string): readonly Import[] {
  const source = readFileSync(file, 'utf8');
  const statements = source.matchAll(
    /^\s*(?:import|export)\s+(type\s+)?[^;'"]*?from\s+'([^']+)'/gm,
  );
  const dynamic = source.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  const sideEffects = source.matchAll(/^\s*import\s+'([^']+)'/gm);
  return [
    ...[...statements].map(([, types, specifier = '']) => ({
      file,
      specifier,
      typesOnly: types !== undefined,
    })),
    ...[...dynamic, ...sideEffects].map(([, specifier = '']) => ({
      file,
      specifier,
      typesOnly: false,
    })),
  ];
}

function filesIn(folder: string): readonly string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root }).map((file) => path.join(root, file));
}

const isOwn = (specifier: string) => /^(?:@portico\/|portico(?:\/|$))/.test(specifier);
const described = ({ file, specifier }: Import) =>
  `${path.relative(root, file)} imports ${specifier}`;

describe('imports', () => {
  // @shows AS-1.1, MCP-1.1
  test.each(Object.entries(PACKAGES))(
    'of %s from other packages use only their public names',
    (name, allowed) => {
      const folder = `packages/${name}/src`;
      const files = filesIn(folder).filter((file) => !file.endsWith('.test.ts'));
      expect(files.length).toBeGreaterThan(0);
      const forbidden = files.flatMap(importsOf).filter((found) => {
        if (found.specifier.startsWith('.')) return !resolved(found).startsWith(`${folder}/`);
        return isOwn(found.specifier) && !allowed.includes(found.specifier);
      });
      expect(forbidden.map(described)).toEqual([]);
    },
  );

  test.each(Object.entries(FOUNDATION))(
    'of %s in portico are only from lower layers',
    (room, below) => {
      const source = 'packages/portico/src';
      const forbidden = filesIn(`${source}/${room}`)
        .filter((file) => !file.endsWith('.test.ts'))
        .flatMap(importsOf)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .filter(
          (found) =>
            ![room, ...below].some((each) => resolved(found).startsWith(`${source}/${each}/`)),
        );
      expect(forbidden.map(described)).toEqual([]);
    },
  );

  test('of the core contain no database driver', () => {
    const found = filesIn('packages/portico/src').flatMap(importsOf);
    const drivers = found.filter(({ specifier }) =>
      ['pg', 'mysql2', 'node:sqlite'].includes(specifier),
    );
    expect(drivers.map(described)).toEqual([]);
  });

  test.each(EXAMPLES)('of the example %s are from its own folder or public names', (name) => {
    const folder = `examples/${name}`;
    const { exports } = JSON.parse(
      readFileSync(path.join(root, 'packages/portico/package.json'), 'utf8'),
    ) as {
      readonly exports: Readonly<Record<string, unknown>>;
    };
    const forbidden = filesIn(folder)
      .flatMap(importsOf)
      .filter((found) => {
        const { specifier } = found;
        if (specifier.startsWith('.')) return !resolved(found).startsWith(`${folder}/`);
        return (
          /^portico(?:\/|$)/.test(specifier) &&
          !Object.hasOwn(exports, specifier.replace('portico', '.'))
        );
      });
    expect(forbidden.map(described)).toEqual([]);
  });

  test('of the relying party contain nothing from Portico', () => {
    const found = filesIn('examples/relying-party').flatMap(importsOf);
    expect(found.filter(({ specifier }) => specifier.startsWith('portico'))).toEqual([]);
  });
});

describe('the code of the packages', () => {
  const files = filesIn('packages/*/src').filter((file) => !file.endsWith('.test.ts'));
  const named = (file: string) => path.relative(root, file);

  test('has no import cycle, not even of types', () => {
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

  test.each(Object.entries(ROOMS))('in %s imports only from lower layers', (folder, rooms) => {
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

  test('loads modules only by import statements', () => {
    const found = files.filter((file) => /\bcreateRequire\b/.test(readFileSync(file, 'utf8')));
    expect(found.map(named)).toEqual([]);
  });
});
